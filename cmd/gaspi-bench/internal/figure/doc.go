// Package figure reproduces the figures of the papers that this project builds
// on, as far as they are about communication. A figure is data: what is measured (a
// Sweep), where (its grids), and what the paper says of it (Claims). Each is looked at
// in up to three ways: simulated from the schedules at the paper's own size, run on
// emulated links, and run on this machine as it is. The functions of judge.go compute the
// verdict on a claim from the numbers; no verdict is written down.
//
// It starts gaspi-bench for what is measured, draws SVG and writes the report. It does
// not parse the command line.
package figure

// Package live serves what a running job does over HTTP: a page that keeps itself up to date, the data of
// that page, counters in the text format of Prometheus, and profiles and variables of every rank.
//
// It knows neither how ranks are started nor how they are asked: a Job, which package launcher has, tells
// it. Command gaspi-run --http is its only user.
package live

// Package cpu has instructions of processors that the language does not give: pauses, prefetches,
// string moves, stores with release order, barriers, and the counter of ticks. Each has a form in Go for other
// architectures, and for the race detector, which sees no assembly.
package cpu

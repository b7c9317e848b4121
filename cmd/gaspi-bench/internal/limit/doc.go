// Package limit does what gaspi-bench measures with the least that the machine allows:
// bare flags and copies in memory that ranks share, bare sockets where they do not. The
// work of a collective operation is data there (CallShape, Move), which each way to do it
// binds to memory.
//
// It does not measure: package measure runs its calls in turn with those of the library.
package limit

// Package peerstate is what one rank knows of each rank of its job: whether it is there, is
// suspected to be gone, is lost, has died or has left. Package gaspi asks it and nothing else, and what is built on gaspi
// asks that. A transport keeps the error with which operations over one of its links end.
//
// An [Entry] is an immutable value, and an [Event] makes another one of it by rules that a table
// states (testdata/transitions.txt). A [Table] holds one Entry for each rank, gives losses their
// order, and counts them. It does no I/O, reads no clock, starts no goroutine and wakes nobody:
// package gaspi, which owns it, hears of ends and broken connections, and tells waits.
package peerstate

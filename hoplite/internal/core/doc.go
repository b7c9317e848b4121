// Package core is the protocol of the object store: who holds which object, who
// sends it to whom, how a reduction is laid over the ranks, and what happens
// when a rank dies.
//
// A Core is one rank's part: a shard of the directory (and the replica of
// another), the store's book-keeping, and the calls of the local program. It is
// pure. Calls and events go in; messages, commands and results come out. It has
// no clock, no goroutine, no I/O and never looks at an object's bytes. docs/HOPLITE.md states
// its assumptions; in short: messages from one rank to another arrive in order, a rank that is
// reported as down is really gone and nothing it sent arrives afterwards.
//
// The runner on one-sided calls and the simulator in hoplite/internal/sim drive
// the same code.
package core

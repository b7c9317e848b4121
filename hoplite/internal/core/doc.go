// Package core is the protocol of the object store: who holds which object, who
// sends it to whom, how a reduction is laid over the ranks, and what happens
// when a rank dies.
//
// A Core is one rank's part: a shard of the directory (and the replica of
// another), the store's book-keeping, and the calls of the local program. It is
// pure. Calls and events go in; messages, commands and results come out. It has
// no clock, no goroutine, no I/O and never looks at an object's bytes. docs/HOPLITE.md states
// the promises of the calls.
//
// The runner on one-sided calls and the simulator in hoplite/internal/sim drive
// the same code. They promise:
//
//   - Messages from one rank to another arrive once and in order; when the sender dies, a first
//     part of them does.
//   - The watermark of a put is posted after all earlier puts of that transfer. Sent is reported
//     when it has landed, or so that no later message to that peer overtakes it.
//   - Down(r) is true, and after it nothing that r wrote or sent arrives. Ranks may learn it at
//     different times.
//   - Commands are done in order, before the messages of the same Drain.
package core

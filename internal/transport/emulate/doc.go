// Package emulate makes ranks of one host behave as if each were alone on a host of
// its own, behind a network card of its own: it delays what any transport does. It
// is for measuring protocols and algorithms on networks that are not there.
//
// # What is delayed
//
// Bytes move at once, by the transport below; what tells of them moves at the speed of
// the emulated network: notifications, the completion of operations, atomics, answers.
// The memory model allows that, since nobody may look at the destination of a
// put before its notification. It keeps the copying away from the moments that
// matter.
//
// # The model
//
// A message costs its sender Overhead and then leaves through the card of the rank,
// which sends a message at a time at Bandwidth. Its first byte arrives at the other
// card Latency later, plus up to Jitter, and the message is there when that card,
// which also takes one message at a time, in the order of first bytes, has taken it
// in. Cards are full duplex and shared by all peers. Messages of a queue to a peer
// stay in order. Messages without data take no room in cards. Messages of at most shortMessage
// bytes slip in between the packets of longer ones. A get is a message without data and an
// answer with it, an atomic and a flush are two messages without data. It is the model of
// package price.
//
// When a card is free next is a word of memory that all ranks reach. Each rank has a
// thread that sleeps until its next message is due (see nic), and that counts how late
// it was: see Punctuality.
package emulate

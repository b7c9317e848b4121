// Package faulty is a network between ranks that are goroutines of one process, whose
// faults a test makes: a rank that is killed or stopped, a host or a link that is cut, in
// both directions or in one, a launcher that is cut off, a rank that joins late.
//
// Ranks of one host share memory. Messages between hosts are in order per queue and
// peer, and each takes a random time. A connection is made on first use; one over which
// nothing can be heard is lost after Config.Silence, at both ends. All times come from
// package time, so that in a bubble of testing/synctest they take no time.
//
// A test makes a Network and hands it to gaspi.Local in the context
// (transport.WithNetwork). Programs link nothing of this package.
package faulty

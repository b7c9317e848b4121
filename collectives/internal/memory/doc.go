// Package memory does the accounts of the memory of a team: which notifications and which bytes
// of scratch each plan has, and which segments buffers of callers lie in.
//
// All members claim and release in the same order, so that everything has the same place on all
// of them without a message. Memory that was released is used again only after Arena.Sweep,
// which members call at a point where no operation is under way: until then a slow member
// may still be reading it.
//
// It makes no segment and talks to nobody. Package collectives calls it, and makes all members
// do the same.
package memory

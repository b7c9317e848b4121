// Package gaspi is the runtime that a one-sided parallel program holds: ranks,
// segments of memory that other ranks write to, notifications that say the data
// has arrived, and waits that cost nothing until the data is needed. It follows
// the GASPI 17.1 standard in Go's manner; docs/GASPI.md maps every procedure.
//
// The life of a program:
//
//	p, err := gaspi.Init(ctx, gaspi.Config{})      // joins the job gaspi-run started, or is a job of one
//	defer p.Close()
//	seg, err := p.CreateSegment(ctx, 0, 1<<20)     // collective: 1 MiB that every rank may write
//	src, err := seg.Span(0, 8)                     // bounds are checked once, here
//	dst := seg.At(peer, 4096)                      // an address at another rank
//	q := p.MustQueue(0)
//	err = q.WriteNotify(dst, src, gaspi.Notification{ID: 7, Value: 1})
//	id, err := seg.WaitSome(ctx, 0, 16)            // somebody wrote to us
//	v, err := seg.Reset(id)                        // the notification is ours
//	err = q.Wait(ctx)                              // src may be changed again
//	err = p.Barrier(ctx, p.World())
//
// # Blocking and time limits
//
// Every call that can block takes a context first; Try forms never block. A deadline of the
// context is the standard's timeout: the call ends with an error that matches
// context.DeadlineExceeded, nothing is lost, and the same call made again goes on where the
// first one stopped. (Two differ: Init leaves the job, and PassiveSend withdraws its message.)
// On the path that does not block, a context costs nothing.
//
// # Ownership
//
// A write borrows its source until the next successful Wait on its queue; a
// read fills its destination until then. Memory of a segment belongs to the
// program that holds the segment, shared with the ranks it is registered with.
//
// # Faults
//
// A rank that dies is named: every operation that needs it, and every wait that
// may depend on it, ends with an error that matches ErrRankDead and is a
// *RankError. See Proc.State.
//
// # Goroutines
//
// All methods may be called from any goroutine unless they say otherwise. Collective
// calls over one group are ordered by the runtime where they have an id or a Tag to match
// by, and are one at a time where they do not (Barrier, AllReduce): goroutines that must
// not wait for each other use a group each, made by Group.Dup. The table is in
// docs/GASPI.md.
//
// There is no package-level state: one process may hold many ranks (see Local).
package gaspi

// Version is the version of this module, by semantic versioning.
const Version = "0.1.0-dev"

// StandardVersion is the version of the GASPI standard that this package
// follows; docs/GASPI.md states the deliberate differences.
const StandardVersion = "17.1"

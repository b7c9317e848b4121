// Package transport is the seam between package gaspi and the wires: move these
// bytes there, then set that notification.
//
// It knows no algorithms, no groups and no launchers. Every transport keeps the
// contract written on Link and passes the suite of package transporttest.
package transport

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// An Addr is a place in a peer's memory.
type Addr struct {
	Segment segment.ID
	Offset  uint64 // bytes from the start of the data
}

// A Flag is a notification to be set in a segment.
type Flag struct {
	Segment segment.ID
	ID      notify.ID
	Value   notify.Value
	Add     bool // add Value to the word instead of overwriting it
}

// Post sets or adds f on the array of its segment. The caller has made sure of
// the array's Check.
func (f Flag) Post(b *notify.Array) {
	if f.Add {
		b.Add(f.ID, f.Value)
		return
	}
	b.Set(f.ID, f.Value)
}

// A Transport connects this rank with others. Package gaspi makes it once.
type Transport interface {
	// Name is what users call it: "shm", "loopback".
	Name() string

	// Link is the way to rank r, own rank included. It is made on first use and
	// then always the same. It does not fail for a rank that is gone: the
	// operations on the link do.
	Link(r base.Rank) (Link, error)

	// Expose lets peers reach s under id: those that Grant names, from then on.
	// id must be free.
	Expose(id segment.ID, s *segment.Segment) error
	// Grant lets rank r reach the segment exposed under id.
	Grant(id segment.ID, r base.Rank) error
	// Withdraw ends what Expose began. An operation that a peer issues later
	// ends with base.ErrNoSegment. If another segment is exposed under the same id
	// afterwards, an operation that a peer issues then is for that one, and what was meant
	// for one never lands in the other. Withdraw blocks until the peers that used the
	// segment know, for some seconds at most; one that learns later has its operations
	// on the id refused until then.
	Withdraw(id segment.ID) error

	// Lose says that a rank is gone: from now on every operation that needs it
	// ends with err.
	Lose(err *base.RankError)

	// Close withdraws all segments and ends the use of the transport. It is idempotent. An
	// operation that a peer issues when it can know of it ends with ErrorOfLeaver. Peers that
	// map the memory may still write to it, as far as they had begun.
	Close() error
}

// ErrorOfLeaver returns the error of operations with rank r, which has closed its transport.
func ErrorOfLeaver(r base.Rank) *base.RankError {
	return &base.RankError{Rank: r, Reason: "it has closed its connections", Left: true}
}

// ErrorOfWithdrawn returns the error of an operation on a segment that rank r had withdrawn when it came there.
func ErrorOfWithdrawn(r base.Rank, id segment.ID) error {
	return fmt.Errorf("%w: rank %d has withdrawn segment %d", base.ErrNoSegment, r, id)
}

// A LateLink is a Link whose user may post a notification later than it was asked to, and then
// only in the segment that had the id before. Links to memory that is addressed have Direct for it.
type LateLink interface {
	// Generation tells apart the segments that have an id one after the other.
	Generation(q *Queue, id segment.ID) (uint64, error)
	// NotifyLate is Link.Notify of a flag that was checked when its segment was of that generation. If
	// that was withdrawn, it posts nothing and the error, if it is known at once, is ErrorOfWithdrawn.
	NotifyLate(q *Queue, f Flag, generation uint64) error
}

// A Link is this rank's way to one peer. All methods are safe for concurrent
// use. Sources and destinations have been checked against the local segment;
// the peer's side is checked by the link or by the peer, never trusted.
//
// Completion: with memory that can be addressed, an operation has ended when its
// method returns; a link that cannot keep that counts the operation in q until it
// has ended. Order: whoever sees a notification posted by
// PutNotify sees the bytes of that put; whoever sees one posted by Notify sees
// the bytes of all puts issued before it to the same peer on the same queue.
// Nothing else is ordered. A method that returns an error has had no effect, but for
// what Atomic says.
//
// A put or get of no bytes moves nothing and is counted in no queue. Its address is
// checked like any other: it must lie in a segment of the peer, or at its end.
type Link interface {
	// Put copies src to dst at the peer. It borrows src until the operation is
	// complete on q.
	Put(q *Queue, dst Addr, src segment.Span) error
	// PutNotify is Put and then the flag, as one.
	PutNotify(q *Queue, dst Addr, src segment.Span, f Flag) error
	// Notify posts the flag behind all earlier puts.
	Notify(q *Queue, f Flag) error
	// Get copies src at the peer to dst. dst is valid once complete on q.
	Get(q *Queue, dst segment.Span, src Addr) error
	// GetNotify is Get, and then posts f on the local array b, after all earlier
	// gets from the same peer on the same queue. The segment of f is not used.
	// The caller has made sure of b.Check.
	GetNotify(q *Queue, dst segment.Span, src Addr, b *notify.Array, f Flag) error

	// Atomic applies op to the 64-bit word at the peer and returns its old
	// value. It blocks. It is atomic against all other Atomics on that word,
	// whoever issues them, and every call is an operation of its own: it is applied
	// at most once, and never by another call.
	//
	// ctx bounds reaching the peer. Once the request is on its way it is carried
	// out: the call waits for the answer, and returns it also if ctx has ended
	// meanwhile, for at most AnswerMost after that. With a context that has ended
	// before the call, the operation is carried out if the peer is reached already.
	// After an error of ctx it was not applied and never will be, unless the error
	// is a *base.InDoubtError: the peer did not answer in that time. After a
	// *base.RankError, and base.ErrClosed of a call that was under way, it is not
	// known. After any other error it was not applied.
	Atomic(ctx context.Context, at Addr, op AtomicOp, operand, compare uint64) (uint64, error)

	// Size is the number of bytes of the peer's segment, and its number of
	// notifications. It fails as a put would.
	Size(id segment.ID) (bytes uint64, notifications uint32, err error)
	// Mapped is the peer's memory [at, at+n) where it can be read and written
	// directly; false where it cannot.
	Mapped(at Addr, n uint64) (segment.Span, bool)

	// Flush blocks until all puts and notifications issued before it on q have
	// arrived in the peer's memory.
	Flush(ctx context.Context, q *Queue) error
	// Ping finds out whether the peer still lives.
	Ping(ctx context.Context) error
}

// AtomicOp is an operation on a 64-bit word.
type AtomicOp uint8

// The operations. Min and Max compare unsigned numbers.
const (
	FetchAdd AtomicOp = iota
	CompareSwap
	Swap
	FetchMin
	FetchMax
	FetchAnd
	FetchOr
	FetchXor
)

// String is the name as messages show it.
func (op AtomicOp) String() string {
	return [...]string{"fetch_add", "compare_swap", "swap", "fetch_min", "fetch_max", "fetch_and", "fetch_or", "fetch_xor"}[op]
}

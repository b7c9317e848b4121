package gaspi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// Errors to test for with errors.Is. A time limit matches
// context.DeadlineExceeded and a cancellation context.Canceled.
var (
	// ErrQueueFull says that a request was not issued: wait on the queue, then
	// post it again. It is returned bare, and is no fault of anybody's.
	ErrQueueFull = base.ErrQueueFull
	// ErrRankDead is matched by every *RankError.
	ErrRankDead = base.ErrRankDead
	// ErrBadRank says that there is no such rank.
	ErrBadRank = base.ErrBadRank
	// ErrOutOfRange says that an argument is none of those that are possible: bytes
	// outside a segment, mostly.
	ErrOutOfRange = base.ErrOutOfRange
	// ErrNoSegment says that a rank has no such segment, or has not registered
	// it with this one.
	ErrNoSegment = base.ErrNoSegment
	// ErrNoNotification says that a notification id is not below the segment's
	// number of notifications.
	ErrNoNotification = base.ErrNoNotification
	// ErrZeroValue says that a notification value was 0.
	ErrZeroValue = base.ErrZeroValue
	// ErrUnaligned says that an offset is no multiple of the element's size.
	ErrUnaligned = base.ErrUnaligned
	// ErrClosed says that the process, segment, queue or group was closed or
	// deleted.
	ErrClosed = base.ErrClosed
	// ErrNotSupported says that this machine lacks a feature.
	ErrNotSupported = base.ErrNotSupported
	// ErrInUse says that an id is taken, or that the same collective is already
	// running on the group in another goroutine.
	ErrInUse = errors.New("in use")
	// ErrTooMany says that a limit of the configuration is reached.
	ErrTooMany = errors.New("limit of the configuration reached")
	// ErrTooLarge says that a transfer or vector is longer than configured.
	ErrTooLarge = errors.New("too large")
	// ErrMismatch says that the ranks of a group called a collective with
	// different arguments.
	ErrMismatch = base.ErrMismatch
	// ErrRevoked is matched by every *RevokedError.
	ErrRevoked = errors.New("the group was revoked")
	// ErrLauncherLost says that the launcher of the job is gone, or, in a job without one,
	// rank 0, where the ranks had met. An error that matches it says which of the two.
	ErrLauncherLost = errors.New("the launcher of this job is gone, or rank 0 of a job without one")
)

// A RankError says which rank is gone and what became of it.
type RankError = base.RankError

// An OpError says which operation failed and where. Its cause is Err. The error of a context is
// returned without it by Barrier, AllReduce, AllReduceFunc, Queue.Wait and PassiveReceive if its
// type has a method Bare: for programs that poll.
type OpError struct {
	Op   string // "write_notify", "barrier", ...
	At   string // "rank 1 segment 0 [64:+8]", "group 0", ...; may be empty
	Err  error
	Wait string // what was waited for, if the operation had begun to wait
}

// Error is one line: operation, place, what was waited for, cause.
func (e *OpError) Error() string {
	var b strings.Builder
	b.WriteString("gaspi: ")
	b.WriteString(e.Op)
	if e.At != "" {
		b.WriteString(" " + e.At)
	}
	if e.Wait != "" {
		b.WriteString(": waiting for " + e.Wait)
	}
	b.WriteString(": " + e.Err.Error())
	return b.String()
}

// Unwrap is the cause.
func (e *OpError) Unwrap() error { return e.Err }

// transferError wraps the cause of a failed transfer of n bytes.
func transferError(op string, at Remote, n uint64, err error) error {
	return &OpError{Op: op, At: fmt.Sprintf("to rank %d segment %d [%d:+%d]", at.Rank, at.Segment, at.Offset, n), Err: err}
}

// isBare reports whether err is the end of a context that is to be returned as it is: it has a
// method Bare. A program that calls again and again with a context that has ended pays for no
// text that nobody reads.
func isBare(err error) bool {
	_, bare := err.(interface{ Bare() })
	return bare
}

// isTimeLimit reports whether err is the end of a context.
func isTimeLimit(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

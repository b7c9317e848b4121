// Package base holds the vocabulary that the layers below package gaspi share
// with it: ranks and the sentinel errors. Package gaspi re-exports all of it.
package base

import (
	"errors"
	"fmt"
)

// Rank numbers a process of a job, from 0 to size-1.
type Rank int

// Sentinel errors. Every layer returns these (possibly wrapped), so that a
// caller can test with errors.Is whatever transport it uses.
var (
	// ErrQueueFull says that a request was NOT issued because the queue has no
	// room for it. It is flow control and no fault: wait on the queue and post
	// again, or post to another queue.
	ErrQueueFull = errors.New("queue full: request not issued; wait on the queue, then post again")

	// ErrOutOfRange says that an argument is none of those that are possible, such as an
	// offset and length that leave the segment.
	ErrOutOfRange = errors.New("out of range")

	// ErrNoSegment says that no such segment is registered for this rank there.
	ErrNoSegment = errors.New("no such segment")

	// ErrNoNotification says that a notification id is not below the number of
	// notifications of the segment.
	ErrNoNotification = errors.New("no such notification")

	// ErrZeroValue says that somebody tried to post the value 0, which means
	// "not set".
	ErrZeroValue = errors.New("notification value 0 is not allowed: it means \"not set\"")

	// ErrUnaligned says that a 64-bit atomic was asked for at an offset that is no
	// multiple of 8, or a view at one that does not suit its elements.
	ErrUnaligned = errors.New("unaligned offset")

	// ErrBadRank says that a rank is negative or not below the size of the job.
	ErrBadRank = errors.New("no such rank")

	// ErrClosed says that the object was closed or deleted.
	ErrClosed = errors.New("closed")

	// ErrNotSupported says that this machine, kernel or peer lacks a feature. It
	// is always wrapped with the feature and the reason.
	ErrNotSupported = errors.New("not supported here")

	// ErrMismatch says that ranks called the same thing with arguments that do not
	// belong together. It is wrapped with two of them and what they said.
	ErrMismatch = errors.New("ranks do not agree")

	// ErrRankDead is matched by every RankError.
	ErrRankDead = errors.New("rank is dead")
)

// A RankError says that an operation cannot complete because a rank is gone.
// It matches ErrRankDead with errors.Is.
type RankError struct {
	Rank   Rank   // the rank that is gone
	Reason string // what became of it, such as "killed by signal 9"
	Left   bool   // it left the job normally: it ended with status 0, or closed its connections
}

// Error names the rank and what became of it.
func (e *RankError) Error() string {
	return fmt.Sprintf("rank %d is gone: %s", e.Rank, e.Reason)
}

// Is reports whether target is ErrRankDead.
func (e *RankError) Is(target error) bool { return target == ErrRankDead }

// Lacking returns err, which matches ErrNotSupported too if it says that the system lacks
// a feature (errors.ErrUnsupported), as package sys does.
func Lacking(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}

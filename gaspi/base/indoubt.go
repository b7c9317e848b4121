package base

import "context"

// An InDoubtError says that a context ended while an atomic operation was under way,
// and that its peer did not answer in the second after that: the operation may have
// been applied, may be applied later, or never. It is the identity of that operation:
// Wait returns its outcome. A program that drops the error drops the outcome; no other call
// returns it.
type InDoubtError struct {
	cause error
	wait  func(ctx context.Context) (old uint64, err error)
}

// InDoubt makes the error of an operation that waited in vain because of cause, and
// whose outcome wait returns, as InDoubtError.Wait says.
func InDoubt(cause error, wait func(ctx context.Context) (uint64, error)) *InDoubtError {
	return &InDoubtError{cause: cause, wait: wait}
}

// Error says what is not known, and why.
func (e *InDoubtError) Error() string {
	return "the rank has not answered, so it is not known whether the operation was applied; Wait of the InDoubtError tells: " + e.cause.Error()
}

// Unwrap is the error of the context that ended.
func (e *InDoubtError) Unwrap() error { return e.cause }

// Wait blocks until the outcome of the operation is known, and returns it: the old
// value of the word, or why the operation was not applied, or that the rank is gone
// (an error that matches ErrRankDead) or this rank has closed, which both leave it
// unknown for ever. It can be called several times and by several goroutines, and
// always returns the same outcome. When ctx ends first, it returns the error of ctx;
// another call goes on.
func (e *InDoubtError) Wait(ctx context.Context) (old uint64, err error) { return e.wait(ctx) }

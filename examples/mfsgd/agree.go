package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// A usageError is a command line that asks for what cannot be.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A refusal is an error that all ranks know of. Exactly one of them has to say
// it, and none may exit before it is said, because the launcher ends a job when
// its first rank exits with an error.
type refusal struct {
	err  error // nil on ranks that leave the word to another
	code int   // exit code of all ranks
}

func (r *refusal) Error() string {
	if r.err == nil {
		return "another rank says why"
	}
	return r.err.Error()
}

func (r *refusal) Unwrap() error { return r.err }

// agree returns nil if err is nil on all ranks, and otherwise a *refusal on all
// of them; the lowest rank with an error is the one to say it. All ranks must call it.
func agree(ctx context.Context, p *gaspi.Proc, err error) error {
	size := int64(p.Size())
	vote := []int64{size, 0} // the minimum of speakers, and of negative exit codes
	if err != nil {
		vote = []int64{int64(p.Rank()), -int64(exitCode(err))}
	}
	if aerr := gaspi.AllReduce(ctx, p.World(), vote, vote, gaspi.Min); aerr != nil {
		return aerr
	}
	if vote[0] == size {
		return nil
	}
	r := &refusal{code: int(-vote[1])}
	if vote[0] == int64(p.Rank()) {
		r.err = err
	}
	return r
}

// exitCode is the status that an error ends the process with.
func exitCode(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// leave says why the job ends, if it is for this rank to say, lets the other
// ranks wait until it is said, and returns the exit code.
func leave(ctx context.Context, p *gaspi.Proc, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	r, agreed := errors.AsType[*refusal](err)
	switch {
	case agreed && r.err != nil:
		fmt.Fprintln(stderr, sentence(r.err))
	case agreed:
		// Another rank says it.
	case errors.Is(err, gaspi.ErrRankDead) && p.Rank() != 0:
		// The launcher says which rank died of what; one of us adds what it broke.
	default:
		fmt.Fprintln(stderr, sentence(err))
	}
	if agreed {
		// A barrier that fails changes nothing: the job is over.
		_ = p.Barrier(ctx, p.World())
	}
	return exitCode(err)
}

// sentence is what the user reads.
func sentence(err error) string {
	if exitCode(err) == exitUsage {
		return fmt.Sprintf("mfsgd: %v; see mfsgd --help", err)
	}
	return fmt.Sprintf("mfsgd: %v", err)
}

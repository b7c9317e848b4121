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

// A usageError is a command line that asks for what cannot be. Every rank finds it
// by itself, since all have read the same one and know the same job.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A sharedError is what rank 0 alone found, told to all.
type sharedError struct{ error }

func (e sharedError) Unwrap() error { return e.error }

// errElsewhere stands on the other ranks for an error that rank 0 says.
var errElsewhere = errors.New("rank 0 says why")

// fromRank0 returns nil on all ranks if err is nil on rank 0, and else an error on
// all of them. All ranks call it.
func fromRank0(ctx context.Context, p *gaspi.Proc, err error) error {
	bad := []int64{0}
	if p.Rank() == 0 && err != nil {
		bad[0] = 1
	}
	if err := gaspi.AllReduce(ctx, p.World(), bad, bad, gaspi.Max); err != nil {
		return err
	}
	switch {
	case bad[0] == 0:
		return nil
	case p.Rank() == 0:
		return sharedError{err}
	}
	return sharedError{errElsewhere}
}

// leave says why the job ends, once for all ranks, and returns the exit code. None
// exits before it is said, because the launcher ends a job when its first rank
// exits with an error.
func leave(ctx context.Context, p *gaspi.Proc, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	_, usage := errors.AsType[usageError](err)
	_, shared := errors.AsType[sharedError](err)
	dead := errors.Is(err, gaspi.ErrRankDead) // of which the launcher says more
	if p.Rank() == 0 || !usage && !shared && !dead {
		hint := ""
		if usage {
			hint = "; see fft --help"
		}
		fmt.Fprintf(stderr, "fft: %v%s\n", err, hint)
	}
	if usage || shared {
		// A barrier that fails changes nothing: the job is over.
		_ = p.Barrier(ctx, p.World())
	}
	if usage {
		return exitUsage
	}
	return exitFailed
}

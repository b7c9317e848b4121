// Package launcher starts the ranks of a job, numbers them, watches them, and
// ends them: processes, their output and their signals, and the rendezvous
// through which ranks find each other (internal/boot).
//
// It knows nothing of segments and queues, and any program can be a rank. Ranks
// of this host are children of this process; those of another one are children
// of an agent there, which ssh or srun has started. Command gaspi-run is Run with
// flags; a program that measures or tests something can call Run with its own
// path.
//
// What a job leaves behind is nothing, on any host: ranks, their children, and
// connections end with it, and also when the launcher itself is killed by
// signal 9.
package launcher

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// Rank numbers a process of a job, from 0 to Ranks-1.
type Rank = base.Rank

// Run starts the ranks of a job and returns when all have ended and their
// output has been passed on. An error means that the job did not run: a bad
// Config, a program that is not there (ErrNotFound, ErrNotExecutable), one that
// cannot be built (*BuildError) or started. It also returns the error of ctx,
// whose end ends the job. That ranks failed is no error but a Result.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	var signals *signals
	if cfg.Foreground {
		signals = catchSignals()
		defer signals.release()
	}
	result, err := prepareAndRun(ctx, cfg, signals)
	if interrupted, ok := errors.AsType[*interruptedError](err); ok {
		return Result{ExitCode: 128 + int(interrupted.signal), Sentence: err.Error()}, nil
	}
	return result, err
}

func prepareAndRun(ctx context.Context, cfg Config, signals *signals) (Result, error) {
	program, err := prepare(ctx, cfg, signals)
	if err != nil {
		return Result{}, err
	}
	defer program.close()
	j, err := newJob(cfg, program, signals)
	if err != nil {
		return Result{}, err
	}
	return j.run(ctx)
}

// Package rankrun is what programs of one server and its workers share around their work:
// how they become ranks, and how they end.
package rankrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// A Program is one command.
type Program struct {
	Name      string // as errors begin
	KeepGoing bool   // whether goroutines go on when one fails
	Stderr    io.Writer

	emulate string // network; see gaspi.Config.Emulate
	workers int    // as Options.Workers
}

// A UsageError is a command line that asks for what cannot be. Every rank finds it by
// itself, since all have read the same one and know the same job.
type UsageError struct{ Err error }

// Error is the cause's.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e UsageError) Unwrap() error { return e.Err }

// rankVariable is set in the ranks that gaspi-run starts.
const rankVariable = "GASPI_RANK"

// speaks reports whether this process is the one of a job to print what needs no job.
func speaks() bool {
	rank, launched := os.LookupEnv(rankVariable)
	return !launched || rank == "0"
}

// Main is the whole of a program: it prints help if that was asked for, and otherwise runs
// body on every rank of the job. usage is what is wrong with the command line, or nil. It
// returns the exit code.
func (pr Program) Main(o Options, usage error, stdout io.Writer, help func() string, body func(ctx context.Context, p *gaspi.Proc) error) int {
	if o.Help && usage == nil {
		if !speaks() {
			return 0
		}
		if _, err := io.WriteString(stdout, help()); err != nil {
			return pr.say(err)
		}
		return 0
	}
	pr.emulate, pr.workers = o.Emulate, o.Workers
	return pr.run(context.Background(), usage, body)
}

// run calls body on every rank of the job, and returns the exit code. usage is what is
// wrong with the command line, which one rank says for all, or nil.
func (pr Program) run(ctx context.Context, usage error, body func(ctx context.Context, p *gaspi.Proc) error) int {
	_, launched := os.LookupEnv(rankVariable)
	cfg := gaspi.Config{Emulate: pr.emulate, KeepGoing: pr.KeepGoing}
	if usage != nil {
		cfg.Emulate = ""
	}
	if pr.workers > 0 && launched && usage == nil {
		usage = errors.New("--workers starts the workers within one process; under gaspi-run, say how many ranks there are with -n")
	}
	if pr.workers > 0 && usage == nil {
		return pr.local(ctx, cfg, body)
	}
	if !launched {
		cfg.Emulate = "" // a job of one rank has no network, and is refused below
	}
	p, err := gaspi.Init(ctx, cfg)
	if err != nil {
		return pr.say(err)
	}
	defer p.Close()
	if usage == nil && p.Size() < 2 {
		usage = errors.New("a job of 1 rank has no workers; start it by gaspi-run -n 4, or say --workers 3")
	}
	if usage != nil {
		return pr.leave(ctx, p, UsageError{usage})
	}
	return pr.leave(ctx, p, body(ctx, p))
}

// local runs the ranks as goroutines.
func (pr Program) local(ctx context.Context, cfg gaspi.Config, body func(ctx context.Context, p *gaspi.Proc) error) int {
	var (
		mu    sync.Mutex
		first error // of rank 0, which speaks for all
	)
	err := gaspi.Local(ctx, pr.workers+1, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		err := body(ctx, p)
		if p.Rank() == 0 && err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = err
		}
		return err
	})
	if first != nil {
		return pr.say(first)
	}
	if err != nil {
		return pr.say(err)
	}
	return 0
}

// say writes the one sentence that a user reads, and returns the exit code.
func (pr Program) say(err error) int {
	if _, usage := errors.AsType[UsageError](err); usage {
		fmt.Fprintf(pr.Stderr, "%s: %v; see %s --help\n", pr.Name, err, pr.Name)
		return exitUsage
	}
	fmt.Fprintf(pr.Stderr, "%s: %v\n", pr.Name, err)
	return exitFailed
}

// leave says why the job ends, once for all ranks, and returns the exit code. None exits
// before it is said, because the launcher ends a job when its first rank exits with an error.
func (pr Program) leave(ctx context.Context, p *gaspi.Proc, err error) int {
	if err == nil {
		return 0
	}
	_, usage := errors.AsType[UsageError](err)
	_, shared := errors.AsType[sharedError](err)
	code := exitFailed
	if usage {
		code = exitUsage
	}
	// Of a death the launcher says more than a worker knows.
	if p.Rank() == 0 || !usage && !shared && !errors.Is(err, gaspi.ErrRankDead) {
		pr.say(err)
	}
	if usage || shared {
		// A barrier that fails changes nothing: the job is over.
		_ = p.Barrier(ctx, p.World())
	}
	return code
}

// A sharedError is what rank 0 alone found, told to all.
type sharedError struct{ error }

func (e sharedError) Unwrap() error { return e.error }

// FromRank0 returns nil on all ranks if err is nil on rank 0, and else an error on all of
// them, which rank 0 will say. All ranks call it.
func FromRank0(ctx context.Context, p *gaspi.Proc, err error) error {
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
	return sharedError{errors.New("rank 0 says why")}
}

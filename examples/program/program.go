// Package program is what the examples share around their work: flags that are checked
// while they are parsed, files that are written whole or not at all, and an end of the job
// at which one rank says why. It knows nothing of what a program does.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Exit codes.
const (
	ExitFailed = 1
	ExitUsage  = 2
)

// A Program is one command.
type Program struct {
	Name           string // as errors begin
	Help           func() string
	Stdout, Stderr io.Writer
}

// A UsageError is a command line that asks for what cannot be. Every rank finds it by
// itself, since all have read the same one and know the same job; rank 0 says it.
type UsageError struct{ Err error }

// Error is the cause's.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e UsageError) Unwrap() error { return e.Err }

// rankVariable is set in the ranks of a job.
const rankVariable = "GASPI_RANK"

// Launched reports whether this process was started as a rank of a job.
func Launched() bool { return os.Getenv(rankVariable) != "" }

// Main is the whole of a program: it prints help if that was asked for, and otherwise joins
// the job and runs body on every rank. usage is what is wrong with the command line, or nil.
// It returns the exit code.
func (pr Program) Main(ctx context.Context, cfg gaspi.Config, help bool, usage error, body func(ctx context.Context, p *gaspi.Proc) error) int {
	if help && usage == nil {
		if rank := os.Getenv(rankVariable); rank != "" && rank != "0" {
			return 0 // another rank prints it
		}
		if _, err := io.WriteString(pr.Stdout, pr.Help()); err != nil {
			return pr.Say(err)
		}
		return 0
	}
	p, err := gaspi.Init(ctx, cfg)
	if err != nil {
		return pr.Say(err)
	}
	defer p.Close()
	if usage != nil {
		return pr.Leave(ctx, p, UsageError{usage})
	}
	return pr.Leave(ctx, p, body(ctx, p))
}

// Say writes the one sentence that a user reads, and returns the exit code.
func (pr Program) Say(err error) int {
	code, hint := exitCode(err), ""
	if code == ExitUsage {
		hint = fmt.Sprintf("; see %s --help", pr.Name)
	}
	fmt.Fprintf(pr.Stderr, "%s: %v%s\n", pr.Name, err, hint)
	return code
}

// Leave says why the job ends, once for all ranks, and returns the exit code. None exits
// before it is said, because the launcher ends a job when its first rank exits with an error.
func (pr Program) Leave(ctx context.Context, p *gaspi.Proc, err error) int {
	if err == nil {
		return 0
	}
	r, agreed := errors.AsType[*refusal](err)
	_, usage := errors.AsType[UsageError](err)
	speaks := p.Rank() == 0 || !usage && !errors.Is(err, gaspi.ErrRankDead) // of a death the launcher says more
	if agreed {
		speaks = r.err != nil
	}
	if speaks {
		pr.Say(err)
	}
	if agreed || usage {
		// A barrier that fails changes nothing: the job is over.
		_ = p.Barrier(ctx, p.World())
	}
	return exitCode(err)
}

// A refusal is an error that all ranks know of. Exactly one of them has to say it.
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

// Agree returns nil if err is nil on all ranks, and otherwise an error on all of them; the
// lowest rank with an error is the one that will say it. All ranks must call it.
func Agree(ctx context.Context, p *gaspi.Proc, err error) error {
	size := int64(p.Size())
	vote := []int64{size, 0} // the minimum of speakers, and of negative exit codes
	if err != nil {
		vote = []int64{int64(p.Rank()), -int64(exitCode(err))}
	}
	if err := gaspi.AllReduce(ctx, p.World(), vote, vote, gaspi.Min); err != nil {
		return err
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

// AgreeOnFiles is Agree on whether rank 0 can write files, whose names may be empty: a program
// calls it before it computes for hours.
func AgreeOnFiles(ctx context.Context, p *gaspi.Proc, names ...string) error {
	var err error
	if p.Rank() == 0 {
		err = CheckWritable(names...)
	}
	return Agree(ctx, p, err)
}

// exitCode is the status that an error ends the process with.
func exitCode(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code
	}
	if _, ok := errors.AsType[UsageError](err); ok {
		return ExitUsage
	}
	return ExitFailed
}

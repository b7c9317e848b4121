// Package launcher starts the ranks of a job, numbers them, watches them, and
// ends them: processes, their output and their caught, and the rendezvous
// through which ranks find each other (internal/boot).
//
// It knows nothing of segments and queues, and any program can be a rank. Ranks
// of this host are children of this process; those of another one are children
// of an agent there, which ssh or srun has started. Command gaspi-run is Run with
// flags; a program that measures or tests something can call Run with its own
// path.
//
// A job leaves nothing behind on any host: ranks, their children, and connections end with it,
// and also when the launcher itself is killed by signal 9.
package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/rendezvous"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
)

// Rank numbers a process of a job, from 0 to Ranks-1.
type Rank = base.Rank

// Run starts the ranks of a job and returns when all have ended and their
// output has been passed on. An error means that the job did not run: a bad
// Config, a program that is not there (ErrNotFound, ErrNotExecutable), one that
// cannot be built (*BuildError) or started. It also returns the error of ctx,
// whose end ends the job. That ranks failed is no error but a Result. On systems
// other than Linux the error is gaspi.ErrNotSupported.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if err := process.Supported(); err != nil {
		return Result{}, fmt.Errorf("%w: %w; gaspi.Local runs them as goroutines of one process", base.ErrNotSupported, err)
	}
	cfg, err := cfg.withDefaults()
	var caught *signals.Caught
	if cfg.Foreground {
		caught = signals.Catch()
		defer caught.Release()
	}
	if err != nil {
		decline(ctx, cfg, err, caught)
		return Result{}, err
	}
	if err := cfg.checkFiles(); err != nil {
		decline(ctx, cfg, err, caught)
		return Result{}, err
	}
	result, err := prepareAndRun(ctx, cfg, caught)
	if interrupted, ok := errors.AsType[*signals.Interrupted](err); ok {
		return Result{ExitCode: 128 + int(interrupted.Signal), Sentence: err.Error()}, nil
	}
	return result, err
}

func prepareAndRun(ctx context.Context, cfg Config, caught *signals.Caught) (Result, error) {
	program, err := prepare(ctx, cfg, caught)
	if err == nil {
		defer program.Close()
	}
	if cfg.Node.several() && cfg.Node.Number > 0 {
		return runMember(ctx, cfg, program, err, caught)
	}
	if err != nil {
		decline(ctx, cfg, err, caught)
		return Result{}, err
	}
	if cfg.Node.several() {
		return runNodes(ctx, cfg, program, caught)
	}
	all, err := cfg.places()
	if err != nil {
		return Result{}, err
	}
	if !slices.ContainsFunc(all, hosts.Place.Elsewhere) { // else the listener says what is wrong
		if err := cfg.checkHere(all); err != nil {
			return Result{}, err
		}
	}
	j, err := newJob(cfg, program, all, caught)
	if err != nil {
		return Result{}, err
	}
	return j.run(ctx)
}

// prepare finds the program of a job and builds it if it is a package.
func prepare(ctx context.Context, cfg Config, caught *signals.Caught) (*executable.File, error) {
	return executable.Prepare(ctx, executable.Request{
		Program: cfg.Program, RDMA: cfg.Transport == transportRDMA, Stderr: cfg.Stderr, Log: cfg.Log,
		Signals: caught.CancelOnEnd, Grace: DefaultKillGrace,
		Refused: func(status int) error { return &BuildError{Package: cfg.Program, ExitCode: status} },
	})
}

// runNodes is Run at node 0: it waits for the other nodes, and runs the job.
func runNodes(ctx context.Context, cfg Config, p *executable.File, caught *signals.Caught) (Result, error) {
	nodes, err := openRendezvous(ctx, cfg, caught)
	if err != nil {
		return Result{}, err
	}
	defer nodes.Close()
	if err := nodes.Gather(ctx); err != nil {
		return Result{}, err
	}
	all := nodes.Places()
	cfg.Ranks = int(all[len(all)-1].First) + all[len(all)-1].Ranks
	j, err := newJob(cfg, p, all, caught)
	if err != nil {
		nodes.Dismiss(agent.RefusalOf(rendezvous.AtFirst(err)))
		return Result{}, err
	}
	j.nodes = nodes
	return j.run(ctx)
}

// ErrNotFound says that there is no such program.
var ErrNotFound = executable.ErrNotFound

// ErrNotExecutable says that the program is a file that cannot be executed.
var ErrNotExecutable = executable.ErrNotExecutable

// A BuildError says that the go command refused a package. It has already said
// why on Config.Stderr.
type BuildError struct {
	Package  string
	ExitCode int // of the go command
}

// Error names the package.
func (e *BuildError) Error() string {
	return fmt.Sprintf("go build %s ended with status %d", e.Package, e.ExitCode)
}

// RunAgent is what the command in Remote.Agent does on another host: it reads
// from stdin who its launcher is, connects to it, and runs its ranks until the
// job is over or the connection ends, whichever comes first; nothing of it is
// left then. It belongs to a process of its own, whose signals and orphans it
// takes over. staged is the temporary directory that holds this program, and
// that RunAgent removes; empty for none. It returns the exit status, and has then
// said on stderr what is wrong, if anything is. probe is Config.Probe for the host of the agent.
func RunAgent(stdin io.Reader, stderr io.Writer, staged string, probe func() (Prober, error)) int {
	return agent.Run(stdin, stderr, staged, probing(probe))
}

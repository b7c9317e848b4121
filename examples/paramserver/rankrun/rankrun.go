// Package rankrun is what programs of one server and its workers share around their work:
// how they become ranks, and what they report.
package rankrun

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Main is the whole of a program: it prints help if that was asked for, and otherwise runs
// body on every rank of the job. usage is what is wrong with the command line, or nil;
// keepGoing is whether goroutines go on when one fails. It returns the exit code.
func Main(pr program.Program, o Options, usage error, keepGoing bool, body func(ctx context.Context, p *gaspi.Proc) error) int {
	ctx := context.Background()
	cfg := gaspi.Config{KeepGoing: keepGoing}
	switch {
	case usage != nil || o.Help:
	case o.Workers > 0 && program.Launched():
		usage = errors.New("--workers starts the workers within one process; under gaspi-run, say how many ranks there are with -n")
	case o.Workers > 0:
		cfg.Emulate = o.Emulate
		return local(ctx, pr, o.Workers+1, cfg, body)
	case program.Launched(): // a job of one rank has no network, and is refused below
		cfg.Emulate = o.Emulate
	}
	return pr.Main(ctx, cfg, o.Help, usage, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Size() < 2 {
			return program.UsageError{Err: errors.New("a job of 1 rank has no workers; start it by gaspi-run -n 4, or say --workers 3")}
		}
		return body(ctx, p)
	})
}

// local runs ranks as goroutines.
func local(ctx context.Context, pr program.Program, ranks int, cfg gaspi.Config, body func(ctx context.Context, p *gaspi.Proc) error) int {
	var (
		mu    sync.Mutex
		first error // of rank 0, which speaks for all
	)
	err := gaspi.Local(ctx, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		err := body(ctx, p)
		if p.Rank() == 0 && err != nil {
			mu.Lock()
			defer mu.Unlock()
			first = err
		}
		return err
	})
	if err := cmp.Or(first, err); err != nil {
		return pr.Say(err)
	}
	return 0
}

// Work is all of a worker: it makes steps until one says that there are no more or fails, ends
// its part, and judges the network with all others.
func Work(ctx context.Context, p *gaspi.Proc, cfg exchange.Config, step func(w exchange.Worker) (more bool, err error)) error {
	w, err := exchange.Work(ctx, p, cfg)
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		more, err = step(w)
	}
	if err := cmp.Or(err, w.Close(ctx)); err != nil {
		return err
	}
	_, err = Judge(ctx, p)
	return err
}

// Show writes what print does to out at once, and figures to the file of --json if that has a
// name.
func Show(out io.Writer, file string, print func(io.Writer), figures any) error {
	err := program.Show(out, print)
	return cmp.Or(program.SaveJSON(file, figures), err)
}

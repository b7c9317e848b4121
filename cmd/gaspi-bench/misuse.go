package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A misuse is a command line that makes no sense in the job that it was given to.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// misusePatience bounds how long a rank waits for the others before it ends because of a
// command line that makes no sense: they may have another one.
const misusePatience = 5 * time.Second

// decline says what is wrong with a command line, with the command that helps, and returns the
// exit code. The ranks of a job have all read the same one, and join to say it once.
func decline(err error, help string, stderr io.Writer) int {
	m := misuse{fmt.Errorf("%w; see %s", err, help)}
	if os.Getenv(envRank) == "" {
		say(stderr, m)
		return exitUsage
	}
	ctx, stop := context.WithTimeout(context.Background(), misusePatience)
	defer stop()
	p, failed := gaspi.Init(ctx, gaspi.Config{})
	if failed != nil {
		say(stderr, m)
		return exitUsage
	}
	defer p.Close()
	sayOnce(p, m, stderr)
	return exitUsage
}

// sayOnce says at rank 0 why all ranks end. It returns when that is said, because a launcher
// ends a job when its first rank exits with an error.
func sayOnce(p *gaspi.Proc, err error, stderr io.Writer) {
	if p.Rank() == 0 {
		say(stderr, err)
	}
	ctx, stop := context.WithTimeout(context.Background(), misusePatience)
	defer stop()
	_ = p.Barrier(ctx, p.World()) // one that fails changes nothing: the job is over
}

// suits finds out whether the command line makes sense in a job of so many ranks.
func (o *options) suits(ranks int) error {
	switch {
	case o.ranksSet && ranks != o.ranks:
		return misuse{fmt.Errorf("-n %d, but this job has %s; drop -n under gaspi-run", o.ranks, counted(ranks))}
	case ranks < o.op.MinRanks:
		return misuse{fmt.Errorf("this job has %s; %s needs at least %d", counted(ranks), o.op.Name, o.op.MinRanks)}
	case o.emulate != "" && ranks < 2:
		return misuse{errors.New("--emulate: a network needs at least 2 ranks, and this job has 1; start more ranks")}
	case o.collective != nil && o.collective.Root >= ranks:
		return misuse{fmt.Errorf("--root %d: there are ranks 0 to %d", o.collective.Root, ranks-1)}
	}
	return nil
}

func counted(ranks int) string {
	if ranks == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", ranks)
}

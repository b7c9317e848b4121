package beside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Measure measures the runtime beside peers, and writes the rows and their comparison. If a
// round fails or ctx ends, it writes those of what was measured until then, and returns an
// error.
func Measure(ctx context.Context, spec Sides, stdout, stderr *os.File) error {
	if err := spec.Forms.Try(); err != nil {
		return err
	}
	c := &comparison{Sides: spec, stderr: stderr}
	err := c.open(ctx, stdout)
	if err == nil {
		err = c.rounds(ctx)
	}
	if ctx.Err() != nil {
		err = c.interrupted()
	}
	err = errors.Join(err, c.show())
	c.out.Done()
	return errors.Join(err, c.out.Close())
}

// A comparison is the runtime and peers, measured in turns.
type comparison struct {
	Sides
	cores  int
	out    *report.Printer // nil before open
	tcp    bool
	stderr *os.File

	apart *distance // nil where ranks have no cores of their own
	runs  []*peerRun
	begun int // rounds
	ended int // rounds, in each of which every side ran
	tally report.Tally
	notes []string // what readers must know
}

// open finds the peers and opens the output.
func (c *comparison) open(ctx context.Context, stdout *os.File) error {
	cores, err := thread.Cores()
	if err != nil {
		return err
	}
	c.cores, c.tcp = len(cores), c.Transport == "tcp"
	if err := c.findPeers(ctx); err != nil {
		return err
	}
	c.watch(cores)
	c.out, err = report.NewPrinter(c.Forms, stdout, c.stderr, c.Headline(c.cores, c.bound()))
	return err
}

// watch has runs repeated, each once in the mean, while cores are not near each other, if ranks are bound to them.
func (c *comparison) watch(cores []int) {
	if c.Bind == "core" {
		c.apart = newDistance(cores, c.Peers.Repetitions*(len(c.sides())+len(c.runs)))
	}
}

// rounds measures all sides in turns.
func (c *comparison) rounds(ctx context.Context) error {
	for round := range c.Peers.Repetitions {
		c.begun++
		for _, side := range c.sides() {
			if err := c.nearby(ctx, round, func(add func(report.Row)) error { return c.measureOurs(ctx, side, round, add) }); err != nil {
				return err
			}
		}
		for _, r := range c.runs {
			if err := c.nearby(ctx, round, func(add func(report.Row)) error { return c.measure(ctx, r, round, add) }); err != nil {
				return err
			}
		}
		c.ended++
	}
	return nil
}

// nearby makes a run, and makes it again if cores were not near each other behind it. Rows that say why there is no
// figure count at once.
func (c *comparison) nearby(ctx context.Context, round int, run func(add func(report.Row)) error) error {
	for {
		if c.apart != nil {
			c.apart.await(ctx)
		}
		var rows []report.Row
		err := run(func(r report.Row) { rows = append(rows, r) })
		again := err == nil && c.apart != nil && c.apart.away()
		for _, r := range rows {
			if !again || r.Note != "" {
				c.tally.Add(round, r)
			}
		}
		if !again {
			return err
		}
	}
}

// interrupted says when the context ended.
func (c *comparison) interrupted() error {
	switch {
	case c.begun == 0:
		return errors.New("interrupted before the first round; nothing was measured")
	case c.tally.Empty():
		return errors.New("interrupted in the first round; nothing was measured")
	}
	return fmt.Errorf("interrupted in round %d of %d; shown is what was measured until then", c.begun, c.Peers.Repetitions)
}

// bound says whether each rank has a core of its own, the same on all sides.
func (c *comparison) bound() bool {
	return c.Bind == "core" || c.Bind == "auto" && c.Ranks <= c.cores
}

// sides are what ranks of the runtime measure, in runs of their own as peers have; "" is all that there is.
func (c *comparison) sides() []string {
	switch {
	case c.Alone:
		return []string{""}
	case c.Rules.Side != "":
		return []string{c.Rules.Side}
	}
	return []string{report.ImplGaspi, report.ImplLimit}
}

// measureOurs runs the ranks of the runtime once over all sizes, and adds their rows, also those that they wrote before
// they failed.
func (c *comparison) measureOurs(ctx context.Context, side string, round int, add func(report.Row)) error {
	c.doing(round, cmp.Or(side, report.ImplGaspi), "")
	dir, err := os.MkdirTemp("", "gaspi-bench-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer nothing.Close()
	forms := report.Forms{JSON: filepath.Join(dir, "rows.json")}
	args := append(slices.Clone(c.Args), "--json="+forms.JSON)
	if side != "" {
		args = append(args, "--side="+side)
	}
	cfg, err := c.Start(forms, args, nothing, c.stderr)
	if err != nil {
		return err
	}
	result, err := launcher.Run(ctx, cfg)
	rows, unreadable := report.ReadRows(forms.JSON)
	for _, r := range rows {
		if r.Impl == report.ImplGaspi {
			r.Version = ourVersion()
			if c.tcp {
				r.Congestion = ourCongestion
			}
		}
		add(r)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case result.ExitCode != 0:
		return fmt.Errorf("the ranks of the runtime ended with exit code %d", result.ExitCode)
	}
	return unreadable
}

// measure runs a peer once over all its points, and adds their rows.
func (c *comparison) measure(ctx context.Context, r *peerRun, round int, add func(report.Row)) error {
	job := r.job
	job.Points = nil
	var rows []report.Row
	var at []int
	for i, point := range r.job.Points {
		if !r.out[i] {
			job.Points = append(job.Points, point)
			rows, at = append(rows, r.rows[i]), append(at, i)
		}
	}
	return r.peer.Run(ctx, job, func(i int) {
		c.doing(round, rows[i].Impl, pointOf(rows[i]))
	}, func(done peer.PointResult) {
		made := rows[done.Point]
		made.Transport, made.N = c.Transport, c.Ranks
		switch {
		case done.OverLimit:
			made.Note = fmt.Sprintf("over limit (%v)", c.Peers.Limit)
		case done.Failed != "":
			made.Note = "failed (" + done.Failed + ")"
		default:
			fill(&made, done)
		}
		r.out[at[done.Point]] = made.Note != ""
		add(made)
	})
}

// doing says on a terminal what is being measured.
func (c *comparison) doing(round int, impl, what string) {
	if what == "" {
		what = c.Op
	}
	c.out.Progress(fmt.Sprintf("round %d of %d: %s, %s", round+1, c.Peers.Repetitions, impl, what))
}

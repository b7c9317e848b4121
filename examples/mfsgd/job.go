package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A job is what one rank has to do. Rank 0 also reports.
type job struct {
	opts  options
	proc  *gaspi.Proc
	out   io.Writer // where rank 0 reports to
	tty   bool      // out is a terminal
	width int       // columns of the terminal; 0 if unknown

	shard  *ratings.Shard
	census census
}

// run does the job. All ranks call it. Errors that a rank has alone come back on
// all of them, by program.Agree.
func (j *job) run(ctx context.Context) error {
	if err := program.Agree(ctx, j.proc, j.check()); err != nil {
		return err
	}
	err := j.load()
	if err := program.Agree(ctx, j.proc, err); err != nil {
		return err
	}
	if j.census, err = count(ctx, j.proc, j.shard); err != nil {
		return err
	}
	if err := program.Agree(ctx, j.proc, j.enough()); err != nil {
		return err
	}
	report := j.newReport()
	if j.leads() {
		d := report.Data
		fmt.Fprintf(j.out, "%s: %s, %s, %d ratings to learn from and %d held out; %s, %s\n", d.Source,
			program.Plural(d.Users, "user"), program.Plural(d.Items, "item"), d.Train, d.HeldOut,
			program.Plural(report.Factors, "factor"), program.Plural(report.Ranks, "rank"))
	}
	for _, slack := range j.opts.slacks {
		run, err := j.measure(ctx, slack)
		if err != nil {
			return err
		}
		report.Runs = append(report.Runs, run)
	}
	return program.Agree(ctx, j.proc, j.finish(report))
}

// leads reports whether this is rank 0.
func (j *job) leads() bool { return j.proc.Rank() == 0 }

// check looks at what depends on the job: its size, and where rank 0 is to
// write.
func (j *job) check() error {
	if err := j.opts.jitter.Check(j.proc.Size()); err != nil {
		return program.UsageError{Err: err}
	}
	if !j.leads() {
		return nil
	}
	return program.CheckWritable(j.opts.json, j.opts.plot)
}

// load reads or makes this rank's ratings.
func (j *job) load() (err error) {
	part := ratings.Part{Rank: int(j.proc.Rank()), Ranks: j.proc.Size(), Seed: j.opts.seed}
	if j.opts.ratings != "" {
		j.shard, err = ratings.Load(j.opts.ratings, part)
	} else {
		j.shard, err = synth.Generate(j.opts.shape, part)
	}
	return err
}

// source names the set of ratings.
func (j *job) source() string {
	if j.opts.ratings != "" {
		return j.opts.ratings
	}
	return "synthetic " + j.opts.shape.String()
}

// enough reports whether there is something to learn from and to measure on.
func (j *job) enough() error {
	if j.census.train == 0 || j.census.heldOut == 0 {
		return fmt.Errorf("%s has too few ratings: one in %d is held out at random, which leaves %d to learn from and %d to measure the error on; use a larger set or another --seed",
			j.source(), ratings.HeldOutOneIn, j.census.train, j.census.heldOut)
	}
	return nil
}

// newReport returns the report before the first run.
func (j *job) newReport() *Report {
	return &Report{
		Format: reportFormat, Ranks: j.proc.Size(), Factors: j.opts.factors, Seed: j.opts.seed,
		Jitter: j.opts.jitter.String(), UntilRMSE: j.opts.untilRMSE,
		Data: Data{
			Source: j.source(), Users: j.shard.TotalUsers, Items: j.shard.Items,
			Train: j.census.train, HeldOut: j.census.heldOut,
		},
	}
}

// finish prints and writes the report, on rank 0. It returns an error if a
// target was not reached.
func (j *job) finish(report *Report) error {
	if !j.leads() {
		return nil
	}
	errs := []error{
		program.Show(j.out, report.writeTable),
		program.SaveJSON(j.opts.json, report),
		program.Save(j.opts.plot, report.figure().WriteSVG),
	}
	for _, run := range report.Runs {
		if j.opts.untilRMSE > 0 && !run.Reached {
			errs = append(errs, fmt.Errorf("slack %d did not reach a held-out RMSE of %g in %d iterations; allow more with --iterations or ask for less",
				run.Slack, j.opts.untilRMSE, j.opts.iterations))
		}
	}
	return errors.Join(errs...)
}

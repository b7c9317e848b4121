package main

import (
	"context"
	"errors"
	"math"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/mf"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// measure factorizes once, from the start, with one slack. All ranks call it,
// and all return the same Run but for its Rank0, which only rank 0 has.
func (j *job) measure(ctx context.Context, slack int) (Run, error) {
	model := mf.New(j.shard, j.census.facts, mf.Config{Factors: j.opts.factors, Seed: j.opts.seed, Slack: slack})
	n := mf.VectorLen(j.shard.Items, j.opts.factors)
	reduction, err := ssp.New[float32](ctx, j.proc.World(), n, ssp.Sum, slack)
	if err != nil {
		return Run{}, err
	}
	exchange := func(ctx context.Context, mine []float32) (mf.Sum, error) {
		res, err := reduction.AllReduce(ctx, mine)
		return mf.Sum{Values: res.Values, Oldest: res.Oldest, Waited: res.Waited}, err
	}
	out, err := j.learn(ctx, model, exchange, slack)
	if errors.Is(err, mf.ErrDiverged) {
		// All ranks come here, so they can leave together.
		return Run{}, program.Agree(ctx, j.proc, err)
	}
	if err != nil {
		return Run{}, err
	}
	if err := reduction.Close(ctx); err != nil {
		return Run{}, err
	}
	run := Run{Slack: slack}
	if j.leads() {
		run.Rank0 = seriesOf(out.Samples)
	}
	return run, j.sumUp(ctx, &run, model, out)
}

// learn runs the descent on this rank.
func (j *job) learn(ctx context.Context, model *mf.Model, exchange mf.VectorSum, slack int) (mf.Outcome, error) {
	plan := mf.RunOptions{
		Iterations: j.opts.iterations, UntilRMSE: j.opts.untilRMSE, Slack: slack, Leader: j.leads(),
		Pause: j.opts.jitter.For(int(j.proc.Rank()), j.opts.seed).Pause,
	}
	show := progressLine{out: j.out, tty: j.tty, width: j.width, plan: plan}
	if j.leads() {
		plan.Observe = show.observe
	}
	// Ranks start their watches together.
	if err := j.proc.Barrier(ctx, j.proc.World()); err != nil {
		return mf.Outcome{}, err
	}
	out, err := mf.Run(ctx, model, exchange, plan)
	if j.leads() {
		show.finish(out.Samples)
	}
	return out, err
}

// sumUp fills in what all ranks know together.
func (j *job) sumUp(ctx context.Context, run *Run, model *mf.Model, out mf.Outcome) error {
	own := aggregate(out.Samples)
	sums := []float64{model.SquaredError(), own.waiting, own.staleness}
	if err := total(ctx, j.proc, sums, gaspi.Sum); err != nil {
		return err
	}
	tops := []float64{own.seconds, float64(own.stalest), float64(len(out.Samples)), float64(out.Reached), 0}
	if out.Reached > 0 {
		// Only the leader has reached something; it knows when.
		tops[4] = own.seconds
	}
	if err := total(ctx, j.proc, tops, gaspi.Max); err != nil {
		return err
	}
	ranks := float64(j.proc.Size())
	run.RMSE = math.Sqrt(sums[0] / float64(j.census.heldOut))
	run.Waiting, run.StalenessMean = sums[1]/ranks, sums[2]/ranks
	run.Seconds, run.StalenessMax, run.Iterations = tops[0], int(tops[1]), int(tops[2])
	if reached := int(tops[3]); reached > 0 {
		run.Reached, run.Iterations, run.Seconds = true, reached, tops[4]
	}
	mean, err := j.average(ctx, out.Samples, run.Iterations)
	run.Mean = mean
	return err
}

// average returns the mean over ranks of each of the first iterations, which
// all ranks have computed.
func (j *job) average(ctx context.Context, samples []mf.Sample, iterations int) (Series, error) {
	const columns = 5 // of a Sample, and how many ranks know the error
	sums := make([]float64, columns*iterations)
	for i, s := range samples[:iterations] {
		at := sums[columns*i : columns*(i+1)]
		at[0], at[2], at[3] = s.Elapsed.Seconds(), s.Waited.Seconds(), float64(s.Staleness)
		if !math.IsNaN(s.RMSE) {
			at[1], at[4] = s.RMSE, 1
		}
	}
	if err := total(ctx, j.proc, sums, gaspi.Sum); err != nil {
		return Series{}, err
	}
	ranks := float64(j.proc.Size())
	var mean Series
	for i := range iterations {
		at := sums[columns*i : columns*(i+1)]
		mean.add(at[0]/ranks, at[1]/at[4], at[2]/ranks, at[3]/ranks)
	}
	return mean, nil
}

// add appends one iteration.
func (s *Series) add(seconds, rmse, waited, staleness float64) {
	s.Seconds = append(s.Seconds, seconds)
	s.RMSE = append(s.RMSE, rmse)
	s.Waited = append(s.Waited, waited)
	s.Staleness = append(s.Staleness, staleness)
}

// seriesOf turns samples into columns.
func seriesOf(samples []mf.Sample) (s Series) {
	for _, x := range samples {
		s.add(x.Elapsed.Seconds(), x.RMSE, x.Waited.Seconds(), float64(x.Staleness))
	}
	return s
}

// A summary is what one rank's samples say.
type summary struct {
	seconds   float64 // until its last iteration ended
	waiting   float64 // share of that spent waiting
	staleness float64 // mean
	stalest   int
}

func aggregate(samples []mf.Sample) (s summary) {
	if len(samples) == 0 {
		return s
	}
	s.seconds = samples[len(samples)-1].Elapsed.Seconds()
	for _, x := range samples {
		s.waiting += x.Waited.Seconds()
		s.staleness += float64(x.Staleness)
		s.stalest = max(s.stalest, x.Staleness)
	}
	s.waiting /= max(s.seconds, 1e-9)
	s.staleness /= float64(len(samples))
	return s
}

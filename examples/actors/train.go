package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// reportFormat changes whenever a reader of an older report would go wrong.
const reportFormat = "actors/1"

// A Report is the document that --json writes. Times are in seconds.
type Report struct {
	Format    string `json:"format"`
	Algorithm string `json:"algorithm"` // a3c or impala
	Way       string `json:"way"`       // objects, turns or eager
	Actors    int    `json:"actors"`
	Died      int    `json:"died,omitempty"` // actors that died
	Quorum    int    `json:"contributions_per_update"`
	Bytes     int64  `json:"bytes"`        // of the policy
	Sample    int64  `json:"sample_bytes"` // of a contribution
	StepTime  string `json:"step_time"`
	Seed      uint64 `json:"seed"`

	// Seconds is when each update had been made, after the first policy was published;
	// Lengths and Reached tell of the rollouts that it took: their mean number of steps, and
	// the part of them that reached the end.
	Seconds  []float64 `json:"seconds"`
	Lengths  []float64 `json:"lengths"`
	Reached  []float64 `json:"reached"`
	Rollouts int       `json:"rollouts"` // in all
	Steps    int       `json:"steps"`    // in all

	UpdatesPerSecond  float64 `json:"updates_per_second"`
	RolloutsPerSecond float64 `json:"rollouts_per_second"` // samples or gradients, as in the paper
	StepsPerSecond    float64 `json:"steps_per_second"`

	rankrun.Verdict
}

func (j *job) newReport(cfg exchange.Config) *Report {
	actors := j.proc.Size() - 1
	r := &Report{
		Format: reportFormat, Algorithm: "a3c", Way: j.opts.Way.String(), Actors: actors, Quorum: j.opts.Quorum(actors),
		Bytes: int64(cfg.Params) * rankrun.ElementSize, Sample: int64(cfg.Contribution) * rankrun.ElementSize,
		StepTime: j.opts.stepTime.String(), Seed: j.opts.Seed,
	}
	if j.opts.impala {
		r.Algorithm = "impala"
	}
	return r
}

// train is what rank 0 does.
func (j *job) train(ctx context.Context, cfg exchange.Config) error {
	s, err := exchange.Serve(ctx, j.proc, cfg)
	if err != nil {
		return err
	}
	r := j.newReport(cfg)
	fmt.Fprintf(j.out, "%s, %s: a policy of %d bytes, contributions of %d, %d actors, %d of them per update\n",
		r.Algorithm, r.Way, r.Bytes, r.Sample, r.Actors, r.Quorum)
	err = j.updates(ctx, s, make([]float32, cfg.Params), r)
	r.Died = r.Actors - len(s.Workers()) // those that leave in Close did not
	if cerr := s.Close(ctx); err == nil {
		err = cerr
	}
	if errors.Is(err, gaspi.ErrRankDead) {
		return fmt.Errorf("update %d: no actor is left: %w", len(r.Seconds)+1, err)
	}
	if err != nil {
		return err
	}
	if r.Verdict, err = rankrun.Judge(ctx, j.proc); err != nil {
		return err
	}
	r.sumUp()
	return rankrun.Show(j.out, j.opts.JSON, r.print, r)
}

// shownUpdates is about how many lines tell of the training.
const shownUpdates = 10

// updates makes them.
func (j *job) updates(ctx context.Context, s exchange.Server, params []float32, r *Report) error {
	if err := s.Publish(ctx, params); err != nil {
		return err
	}
	began := time.Now()
	every := max(j.opts.updates/shownUpdates, 1)
	for n := 1; n <= j.opts.updates; n++ {
		got, err := j.update(ctx, s, params, n)
		if err == nil {
			err = s.Publish(ctx, params)
		}
		if err != nil {
			return err
		}
		rollouts := float64(got.rollouts)
		r.Seconds = append(r.Seconds, time.Since(began).Seconds())
		r.Lengths = append(r.Lengths, float64(got.steps)/rollouts)
		r.Reached = append(r.Reached, float64(got.reached)/rollouts)
		r.Rollouts += got.rollouts
		r.Steps += got.steps
		if n%every == 0 || n == j.opts.updates {
			fmt.Fprintf(j.out, "update %*d of %d  rollouts of %5.1f steps, %3.0f%% reach the end  %.2f s\n",
				len(fmt.Sprint(j.opts.updates)), n, j.opts.updates, r.Lengths[n-1], 100*r.Reached[n-1], r.Seconds[n-1])
		}
	}
	return nil
}

// sumUp fills in what follows from the updates.
func (r *Report) sumUp() {
	took := max(r.Seconds[len(r.Seconds)-1], 1e-9)
	r.UpdatesPerSecond = float64(len(r.Seconds)) / took
	r.RolloutsPerSecond = float64(r.Rollouts) / took
	r.StepsPerSecond = float64(r.Steps) / took
}

// print writes what people want to know.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "%d rollouts of %.1f steps; %.2f updates/s, %.2f rollouts/s, %.0f steps/s\n",
		r.Rollouts, float64(r.Steps)/float64(r.Rollouts), r.UpdatesPerSecond, r.RolloutsPerSecond, r.StepsPerSecond)
	if r.Died > 0 {
		fmt.Fprintf(w, "%d of %d actors died\n", r.Died, r.Actors)
	}
	r.Verdict.Print(w)
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
)

// reportFormat changes whenever a reader of an older report would go wrong.
const reportFormat = "paramserver/1"

// A Report is the document that --json writes. Times are in seconds.
type Report struct {
	Format  string `json:"format"`
	Mode    string `json:"mode"` // sync or async
	Way     string `json:"way"`  // objects, turns or eager
	Workers int    `json:"workers"`
	Died    int    `json:"died,omitempty"`     // workers that died
	Quorum  int    `json:"gradients_per_step"` // as long as all live
	Bytes   int64  `json:"bytes"`              // of the parameters
	Params  int    `json:"params"`             // their number
	Batch   int    `json:"batch"`
	Work    string `json:"work"` // of a worker per gradient, at least
	Seed    uint64 `json:"seed"`

	// Seconds is when each step had been made, after the first parameters were published;
	// Losses has one value more, that before the first step.
	Seconds []float64 `json:"seconds"`
	Losses  []float64 `json:"losses"`
	Right   float64   `json:"right"` // part of the held-out points that is classified right
	// StepSeconds is the median of the time that a step took; Throughput is steps per
	// second over the whole run.
	StepSeconds float64 `json:"step_seconds"`
	Throughput  float64 `json:"steps_per_second"`
	Verified    bool    `json:"verified,omitempty"` // one process computed the same bits

	rankrun.Verdict
}

func (j *job) newReport() *Report {
	workers := j.proc.Size() - 1
	mode := "sync"
	if j.opts.async {
		mode = "async"
	}
	return &Report{
		Format: reportFormat, Mode: mode, Way: j.opts.Way.String(), Workers: workers, Quorum: j.opts.quorum(workers),
		Bytes: int64(j.opts.params()) * rankrun.ElementSize, Params: j.opts.params(), Batch: j.opts.batch,
		Work: j.opts.work.String(), Seed: j.opts.Seed,
	}
}

// sumUp fills in what follows from the steps.
func (r *Report) sumUp() {
	took := make([]float64, len(r.Seconds))
	before := 0.0
	for i, at := range r.Seconds {
		took[i] = at - before
		before = at
	}
	slices.Sort(took)
	r.StepSeconds = took[len(took)/2]
	r.Throughput = float64(len(took)) / max(before, 1e-9)
}

// print writes what people want to know.
func (r *Report) print(w io.Writer) {
	fmt.Fprintf(w, "loss from %.4f to %.4f, %.1f%% right; %.2f steps/s, half of them within %.1f ms\n",
		r.Losses[0], r.Losses[len(r.Losses)-1], 100*r.Right, r.Throughput, 1000*r.StepSeconds)
	if r.Died > 0 {
		fmt.Fprintf(w, "%d of %d workers died\n", r.Died, r.Workers)
	}
	r.Verdict.Print(w)
	if r.Verified {
		fmt.Fprintf(w, "the %d parameters are those that one process computes, bit by bit\n", r.Params)
	}
}

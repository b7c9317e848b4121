package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/internal/model"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A job is what one rank has to do. Rank 0 is the server, and reports.
type job struct {
	opts  options
	proc  *gaspi.Proc
	out   io.Writer // where rank 0 reports to
	model *model.Model
	grid  exchange.Quantizer
}

// run does the job. All ranks call it.
func (j *job) run(ctx context.Context) error {
	var err error
	if j.model, err = model.New(j.opts.Seed, j.opts.params(), j.opts.batch); err != nil {
		return err
	}
	j.grid = exchange.NewGrid(model.Limit, j.proc.Size()-1)
	if err := program.AgreeOnFiles(ctx, j.proc, j.opts.JSON); err != nil {
		return err
	}
	cfg := exchange.Config{
		Way: j.opts.Way, Params: j.opts.params(), Contribution: j.opts.params(),
		Quorum: j.opts.quorum, KeepGoing: j.opts.async, Chunk: j.opts.Chunk,
	}
	if j.proc.Rank() != 0 {
		return j.work(ctx, cfg)
	}
	return j.serve(ctx, cfg)
}

// work is what a worker does.
func (j *job) work(ctx context.Context, cfg exchange.Config) error {
	rank := int(j.proc.Rank())
	pause := rand.New(rand.NewPCG(j.opts.Seed, uint64(rank)))
	grad := make([]float32, cfg.Params)
	n := 0
	return rankrun.Work(ctx, j.proc, cfg, func(w exchange.Worker) (bool, error) {
		more, err := w.Fetch(ctx, func(params []float32) { j.model.Gradient(grad, params, rank, n) })
		if err != nil || !more {
			return false, err
		}
		n++
		j.grid.Round(grad)
		if j.opts.work > 0 {
			// sleep: in place of a computation that takes this long
			time.Sleep(j.opts.work + time.Duration(pause.Int64N(int64(j.opts.work)+1)))
		}
		return true, w.Contribute(ctx, grad)
	})
}

// serve is what rank 0 does.
func (j *job) serve(ctx context.Context, cfg exchange.Config) error {
	s, err := exchange.Serve(ctx, j.proc, cfg)
	if err != nil {
		return err
	}
	r := j.newReport()
	fmt.Fprintf(j.out, "%s parameter server, %s: %d parameters, %d workers, %d gradients per step\n",
		r.Mode, r.Way, r.Params, r.Workers, r.Quorum)
	params, steps, err := j.train(ctx, s, r)
	r.Died = r.Workers - len(s.Workers()) // those that leave in Close did not
	if cerr := s.Close(ctx); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if r.Verdict, err = rankrun.Judge(ctx, j.proc); err != nil {
		return err
	}
	r.sumUp()
	if j.opts.verify {
		err = j.verify(params, steps)
		r.Verified = err == nil
	}
	return cmp.Or(err, rankrun.Show(j.out, j.opts.JSON, r.print, r))
}

// train makes the steps, and returns what came out and whose gradients each step took.
func (j *job) train(ctx context.Context, s exchange.Server, r *Report) ([]float32, []model.Step, error) {
	params := j.model.Initial()
	loss, right := j.model.Loss(params)
	r.Losses = append(r.Losses, loss)
	if err := s.Publish(ctx, params); err != nil {
		return nil, nil, err
	}
	var (
		began = time.Now()
		steps []model.Step
		every = max(j.opts.iterations/shownSteps, 1)
	)
	for n := 1; n <= j.opts.iterations; n++ {
		err := s.Sum(ctx, func(sum []float32, from []gaspi.Rank) {
			j.model.Apply(params, sum, len(from))
			steps = append(steps, stepOf(from))
		})
		if err == nil {
			err = s.Publish(ctx, params)
		}
		if err != nil {
			return nil, nil, j.explain(n, err)
		}
		r.Seconds = append(r.Seconds, time.Since(began).Seconds())
		loss, right = j.model.Loss(params)
		r.Losses = append(r.Losses, loss)
		if n%every == 0 || n == j.opts.iterations {
			fmt.Fprintf(j.out, "step %*d of %d  loss %.4f  right %5.1f%%  %.2f s\n",
				len(fmt.Sprint(j.opts.iterations)), n, j.opts.iterations, loss, 100*right, r.Seconds[n-1])
		}
	}
	r.Right = right
	return params, steps, nil
}

// shownSteps is about how many lines tell of the training.
const shownSteps = 10

// stepOf is what Replay is told of a step.
func stepOf(from []gaspi.Rank) model.Step {
	step := make(model.Step, len(from))
	for i, r := range from {
		step[i] = int(r)
	}
	return step
}

// explain says what a death means for the training.
func (j *job) explain(step int, err error) error {
	if !errors.Is(err, gaspi.ErrRankDead) {
		return err
	}
	if j.opts.async {
		return fmt.Errorf("step %d: no worker is left: %w", step, err)
	}
	return fmt.Errorf("step %d: %w; every step of --mode sync needs all workers, use --mode async to go on without", step, err)
}

// verify computes the same steps alone.
func (j *job) verify(params []float32, steps []model.Step) error {
	want := j.model.Replay(j.proc.Size(), steps, j.grid.Round)
	for i := range want {
		if params[i] != want[i] {
			return fmt.Errorf("parameter %d is %v, but one process computes %v; the exchange is broken, please report it", i, params[i], want[i])
		}
	}
	return nil
}

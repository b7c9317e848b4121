package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/actors/internal/corridor"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A job is what one rank has to do. Rank 0 is the trainer, and reports.
type job struct {
	opts options
	proc *gaspi.Proc
	out  io.Writer // where rank 0 reports to
}

// A vector of parameters is the policy, and ballast whose every element is the number of
// updates. A gradient has two elements more: how many steps its rollout had, and whether
// it reached the end; sums of these are wanted too.
const extra = 2

// run does the job. All ranks call it.
func (j *job) run(ctx context.Context) error {
	if err := program.AgreeOnFiles(ctx, j.proc, j.opts.JSON); err != nil {
		return err
	}
	cfg := exchange.Config{
		Way: j.opts.Way, Params: rankrun.Elements(j.opts.bytes), Contribution: rankrun.Elements(j.opts.bytes) + extra,
		Quorum: j.opts.Quorum, KeepGoing: true, Chunk: j.opts.Chunk,
	}
	if j.opts.impala {
		cfg.Contribution = rankrun.Elements(j.opts.sample)
	}
	if j.proc.Rank() != 0 {
		return j.act(ctx, cfg)
	}
	return j.train(ctx, cfg)
}

// act is what an actor does.
func (j *job) act(ctx context.Context, cfg exchange.Config) error {
	r := rand.New(rand.NewPCG(j.opts.Seed, uint64(j.proc.Rank())))
	mine := make([]float32, cfg.Contribution)
	return rankrun.Work(ctx, j.proc, cfg, func(w exchange.Worker) (bool, error) {
		var torn error
		more, err := w.Fetch(ctx, func(params []float32) {
			torn = whole(params)
			rollout := corridor.Roll(params, r)
			// sleep: in place of a world that takes its time
			time.Sleep(time.Duration(len(rollout.Steps)) * j.opts.stepTime)
			j.contribution(mine, params, &rollout)
		})
		if err = errors.Join(err, torn); err != nil || !more {
			return false, err
		}
		return true, w.Contribute(ctx, mine)
	})
}

// contribution fills in what an actor sends.
func (j *job) contribution(mine, params []float32, rollout *corridor.Rollout) {
	if j.opts.impala {
		rollout.Pack(mine)
		return
	}
	clear(mine[:corridor.Own])
	rollout.Gradient(mine, params)
	ballast(mine[:len(params)], 1)
	mine[len(params)], mine[len(params)+1] = float32(len(rollout.Steps)), 0
	if rollout.Reached {
		mine[len(params)+1] = 1
	}
}

// ballast sets all of it.
func ballast(params []float32, v float32) {
	rest := params[corridor.Own:]
	for i := range rest {
		rest[i] = v
	}
}

// whole says what is wrong with parameters of which not all are of the same update, or nil.
func whole(params []float32) error {
	rest := params[corridor.Own:]
	for i, v := range rest {
		if v != rest[0] {
			return fmt.Errorf("parameter %d is of update %v, and others are of update %v; the exchange is broken, please report it", corridor.Own+i, v, rest[0])
		}
	}
	return nil
}

// A rolloutTally is what the trainer has heard.
type rolloutTally struct{ rollouts, steps, reached int }

// update waits for contributions and changes params.
func (j *job) update(ctx context.Context, s exchange.Server, params []float32, n int) (got rolloutTally, err error) {
	count := func(rollouts int, steps, reached float32) {
		got.rollouts += rollouts
		got.steps += int(steps)
		got.reached += int(reached)
	}
	if !j.opts.impala {
		var torn error
		err := s.Sum(ctx, func(sum []float32, from []gaspi.Rank) {
			count(len(from), sum[len(params)], sum[len(params)+1])
			if torn = whole(sum[:len(params)]); torn == nil && len(params) > corridor.Own && sum[corridor.Own] != float32(len(from)) {
				torn = fmt.Errorf("the sum of %d gradients has %v of them; the exchange is broken, please report it", len(from), sum[corridor.Own])
			}
			corridor.Apply(params, sum, len(from))
		})
		ballast(params, float32(n))
		return got, errors.Join(err, torn)
	}
	grad := make([]float32, corridor.Own)
	err = s.Each(ctx, func(sample []float32, _ gaspi.Rank) {
		rollout := corridor.Unpack(sample)
		rollout.Gradient(grad, params)
		count(1, sample[0], sample[1])
	})
	if err == nil {
		corridor.Apply(params, grad, got.rollouts)
		ballast(params, float32(n))
	}
	return got, err
}

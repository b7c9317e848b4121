package dnn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A replay is one rank of a measurement.
type replay struct {
	cfg     *Config
	p       *gaspi.Proc
	team    *collectives.Team
	grads   []float32 // of all layers, in the order of the backward pass
	compute func(time.Duration)
}

// A contender is one way to do the step.
type contender struct {
	result ContenderResult
	trace  *Trace
	mode   Mode
	tasks  []collectives.Task // by message
}

// Measure replays steps of training on all ranks of a job, which call it alike.
// The first result is of steps without communication, and the others
// follow for each length of messages, algorithm and mode; they take turns, step by
// step, so that all meet the machine in the same mood. All ranks return the same
// results. Each rank holds the gradients once: 4 bytes times the parameters.
//
// The sums of the first and of the last step of every contender are checked; a wrong
// one is an error. progress, which may be nil, is told how much is done.
func Measure(ctx context.Context, p *gaspi.Proc, cfg Config, progress func(done, of int)) ([]ContenderResult, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	model, err := Named(cfg.Model)
	if err != nil {
		return nil, err
	}
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return nil, err
	}
	r := &replay{cfg: &cfg, p: p, team: team, compute: new(sleeper).compute}
	if r.grads, err = collectives.Alloc[float32](ctx, team, elements(model.Messages(0))); err != nil {
		return nil, err
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return nil, err
	}
	if cfg.Spin {
		r.compute = measure.NewComputing().Compute // on the processor, beside communication
	}
	all, err := r.contenders(model)
	if err != nil {
		return nil, err
	}
	times, err := r.steps(ctx, all, progress)
	if err != nil {
		return nil, err
	}
	results, err := r.results(ctx, all, times)
	return results, errors.Join(err, collectives.Release(ctx, team, r.grads), team.Close())
}

// contenders are all that take part, the one without communication first.
func (r *replay) contenders(m *NeuralNetwork) ([]contender, error) {
	all := []contender{r.contender(m, Silent, 0, Variant{})}
	for _, fuse := range r.cfg.Fuse {
		for _, way := range r.cfg.Ways {
			for _, mode := range r.cfg.Modes {
				c := r.contender(m, mode, fuse, way)
				if way.Algorithm == "" {
					name, err := r.chosen(c)
					if err != nil {
						return nil, err
					}
					c.result.Chosen = name
				}
				all = append(all, c)
			}
		}
	}
	return all, nil
}

func (r *replay) contender(m *NeuralNetwork, mode Mode, fuse int, way Variant) contender {
	c := contender{trace: r.cfg.trace(m, fuse), mode: mode}
	for _, msg := range c.trace.Messages {
		part := r.grads[msg.Offset : msg.Offset+msg.Count]
		c.tasks = append(c.tasks, collectives.AllReduceTask(part, collectives.Sum, way.options()...))
	}
	c.result = r.cfg.result(m, c.trace, mode, fuse, way)
	c.result.Impl, c.result.N = "gaspi", r.p.Size()
	return c
}

// result is a Result without its figures.
func (c *Config) result(m *NeuralNetwork, t *Trace, mode Mode, fuse int, way Variant) ContenderResult {
	r := ContenderResult{Op: "dnn", Model: m.Name, Batch: c.Batch, Compute: "sleep", Mode: mode}
	if c.Spin {
		r.Compute = "spin"
	}
	if mode != Silent {
		r.Algorithm, r.Fuse, r.Messages, r.Bytes = way.String(), fuse, len(t.Messages), uint64(elements(t.Messages)*elementSize)
	}
	return r
}

// chosen is what the library chooses for the longest message.
func (r *replay) chosen(c contender) (string, error) {
	most := longest(c.trace.Messages)
	for i, m := range c.trace.Messages {
		if m == most {
			all, err := collectives.Explain(r.team, c.tasks[i])
			if err != nil {
				return "", err
			}
			for _, one := range all {
				if one.Chosen {
					return one.Algorithm, nil
				}
			}
		}
	}
	return "", nil
}

// steps times the contenders in turns: by contender, then by repetition.
func (r *replay) steps(ctx context.Context, all []contender, progress func(done, of int)) ([][]Times, error) {
	times := make([][]Times, len(all))
	rounds := r.cfg.Repetitions + 1 // the first warms up links, plans and page tables
	for round := range rounds {
		for i := range all {
			checked := all[i].mode != Silent && (round == 0 || round == rounds-1)
			t, err := r.once(ctx, &all[i], checked)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], t)
			}
			if progress != nil {
				progress(round*len(all)+i+1, rounds*len(all))
			}
		}
	}
	return times, nil
}

// once does a step of a contender, all ranks at the same time.
func (r *replay) once(ctx context.Context, c *contender, checked bool) (Times, error) {
	if checked {
		fillGradients(r.grads, int(r.p.Rank()))
	} else if c.mode != Silent {
		clear(r.grads)
	}
	if err := r.p.Barrier(ctx, r.p.World()); err != nil {
		return Times{}, err
	}
	t, err := step(ctx, c.trace, c.mode, r.compute, func(ctx context.Context, message int) (waiter, error) {
		return collectives.Start(ctx, r.team, c.tasks[message])
	})
	if err == nil && checked {
		err = checkGradients(r.grads, r.p.Size())
	}
	if err != nil {
		return Times{}, fmt.Errorf("%s, %s, messages of up to %d bytes by %s: %w", c.result.Model, c.mode, c.result.Fuse, c.result.Algorithm, err)
	}
	return t, nil
}

// period is after how many elements gradients repeat. All sums are exact.
const period = 251

// fillGradients writes what rank contributes.
func fillGradients(grads []float32, rank int) {
	for i := range grads {
		grads[i] = float32(i%period + rank)
	}
}

// checkGradients compares with the sums of what size ranks contribute.
func checkGradients(grads []float32, size int) error {
	ranks := size * (size - 1) / 2
	for i, got := range grads {
		if want := float32(i%period*size + ranks); got != want {
			return fmt.Errorf("element %d of the gradients is %v, want %v", i, got, want)
		}
	}
	return nil
}

// results reduces times to those of the slowest rank.
func (r *replay) results(ctx context.Context, all []contender, times [][]Times) ([]ContenderResult, error) {
	network, invalid, err := r.emulated(ctx)
	if err != nil {
		return nil, err
	}
	var results []ContenderResult
	compute := time.Duration(0)
	for i := range all {
		for k := range times[i] {
			pair := []int64{int64(times[i][k].Step), int64(times[i][k].Comm)}
			if err := gaspi.AllReduce(ctx, r.p.World(), pair, pair, gaspi.Max); err != nil {
				return nil, err
			}
			times[i][k] = Times{Step: time.Duration(pair[0]), Comm: time.Duration(pair[1])}
		}
		result := all[i].result
		result.Emulated, result.Invalid = network, invalid
		if all[i].mode == Silent {
			compute = result.fillSilent(times[i])
		} else {
			result.fill(times[i], compute)
		}
		results = append(results, result)
	}
	compare(results)
	return results, nil
}

// emulated is the network that is emulated, if one is, and whether the host of some
// rank could not carry it.
func (r *replay) emulated(ctx context.Context) (network string, invalid bool, err error) {
	n, ok := r.p.Emulation().Network()
	if !ok {
		return "", false, nil
	}
	late := []int32{0}
	if !r.p.Emulation().Punctuality().Valid() {
		late[0] = 1
	}
	err = gaspi.AllReduce(ctx, r.p.World(), late, late, gaspi.Max)
	return n.String(), late[0] != 0, err
}

package dnn

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Simulate prices the same steps for so many ranks of a model machine. The time of
// each allreduce comes from the schedules of all ranks; computing is free of jitter, and
// all ranks reach each message together. The model carries one operation at a time,
// so mode Nonblocking, where several share the network, is refused;
// without c.Modes the other two are priced.
func Simulate(cfg Config, m *price.Machine, ranks int) ([]ContenderResult, error) {
	if cfg.Modes == nil {
		cfg.Modes = []Mode{Blocking, Threaded}
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if ranks < 1 {
		return nil, fmt.Errorf("a job of %d ranks; expected at least 1", ranks)
	}
	model, err := Named(cfg.Model)
	if err != nil {
		return nil, err
	}
	if err := CheckSimulated(cfg.Modes); err != nil {
		return nil, err
	}
	s := &simulation{machine: m, ranks: ranks, known: make(map[priced]quote)}
	silent := cfg.result(model, cfg.trace(model, 0), Silent, 0, Variant{})
	silent.Impl, silent.N = "model", ranks
	compute := cfg.trace(model, 0).Compute()
	silent.fill([]Times{{Step: compute}}, compute)
	results := []ContenderResult{silent}
	for _, fuse := range cfg.Fuse {
		trace := cfg.trace(model, fuse)
		for _, way := range cfg.Ways {
			for _, mode := range cfg.Modes {
				r := cfg.result(model, trace, mode, fuse, way)
				r.Impl, r.N = silent.Impl, ranks
				times, err := s.step(trace, mode, way, &r)
				if err != nil {
					return nil, err
				}
				r.fill([]Times{times}, compute)
				results = append(results, r)
			}
		}
	}
	compare(results)
	return results, nil
}

// CheckSimulated refuses modes that Simulate has no price for.
func CheckSimulated(modes []Mode) error {
	if slices.Contains(modes, Nonblocking) {
		return fmt.Errorf("mode %s cannot be simulated: the model carries one allreduce at a time; use %s or %s", Nonblocking, Blocking, Threaded)
	}
	return nil
}

// A simulation remembers what messages cost.
type simulation struct {
	machine *price.Machine
	ranks   int
	known   map[priced]quote
}

// priced is what the price of a message depends on.
type priced struct {
	way   Variant
	count int
}

// A quote is the price of a message, and the way it is for.
type quote struct {
	cost time.Duration
	way  Variant
}

// step is the time of one step.
func (s *simulation) step(t *Trace, mode Mode, way Variant, r *ContenderResult) (Times, error) {
	costs := make([]time.Duration, len(t.Messages))
	for i, m := range t.Messages {
		q, err := s.price(way, m.Count)
		if err != nil {
			return Times{}, fmt.Errorf("an allreduce of %d elements among %d ranks by %s: %w", m.Count, s.ranks, way, err)
		}
		costs[i] = q.cost
		if way.Algorithm == "" && m == longest(t.Messages) {
			r.Chosen = q.way.String()
		}
	}
	return t.replay(mode, costs), nil
}

// replay is the time of a step whose reductions take so long each, one at a time.
func (t *Trace) replay(mode Mode, costs []time.Duration) Times {
	now, free, comm := t.Forward, time.Duration(0), time.Duration(0)
	for _, stage := range t.Backward {
		now += stage.Compute
		for _, message := range stage.Ready {
			free = max(free, now) + costs[message]
			comm += costs[message]
			if mode == Blocking {
				now = free
			}
		}
	}
	return Times{Step: max(now, free), Comm: comm}
}

// price is what an allreduce costs: half of what two runs take, one of which may
// begin before the other has ended everywhere, as the library reckons too.
func (s *simulation) price(way Variant, count int) (quote, error) {
	key := priced{way, count}
	if q, ok := s.known[key]; ok {
		return q, nil
	}
	q, err := s.best(way, count)
	s.known[key] = q
	return q, err
}

// best is the cheapest of the algorithms and segments that a way allows.
func (s *simulation) best(way Variant, count int) (quote, error) {
	cheapest, best, last := math.Inf(1), way, error(nil)
	for _, a := range algorithms.For(schedule.AllReduce) {
		if way.Algorithm != a.Name && (way.Algorithm != "" || a.Differs || a.Coded || a.Shares) {
			continue
		}
		for _, segments := range segmentsOf(way, a.Whole) {
			seconds, err := s.predict(a, segments, count)
			if err != nil {
				last = err
			} else if seconds < cheapest {
				cheapest, best = seconds, Variant{Algorithm: a.Name, Segments: segments}
			}
		}
	}
	if math.IsInf(cheapest, 1) {
		return quote{}, fmt.Errorf("no algorithm can be priced: %w", last)
	}
	return quote{time.Duration(cheapest * float64(time.Second)), best}, nil
}

// segmentsOf are the numbers of segments to try.
func segmentsOf(way Variant, whole bool) []int {
	switch {
	case way.Segments > 0:
		return []int{way.Segments}
	case way.Algorithm != "" || whole:
		return []int{1}
	}
	return []int{1, 2, 4, 8}
}

func (s *simulation) predict(a algorithms.Algorithm, segments, count int) (float64, error) {
	const runs = 2
	c := &schedule.Call{Op: schedule.AllReduce, Size: s.ranks, Count: count, InPlace: true, Line: 64 / elementSize}
	if a.Fits != nil {
		if err := a.Fits(c); err != nil {
			return 0, err
		}
	}
	var how schedule.Segmentation
	if segments > 1 {
		how.Concurrency = segments
	}
	seconds, err := price.PredictSegments(s.machine, c, how, a.Emit, price.Load{Element: elementSize, Runs: runs})
	return seconds / runs, err
}

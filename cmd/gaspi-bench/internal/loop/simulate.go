package loop

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gaspi-go/gaspi-go/internal/heap"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Simulate prices a loop: stale reductions by the events of all ranks, the ring by its
// schedules.
func Simulate(ctx context.Context, l Loop) (*Measured, error) {
	r := &Measured{Loop: l}
	for _, slack := range l.Slacks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Stale = append(r.Stale, newStaleSim(&l, slack).run())
	}
	calm := l.calmed()
	r.Calm[0] = newStaleSim(calm, 0).run()
	var err error
	if r.Calm[1], err = calm.priceRing(); err != nil {
		return nil, err
	}
	r.Ring, err = l.priceRing()
	return r, err
}

// priceRing is the loop with a ring allreduce, each rank arriving when it has computed.
func (l *Loop) priceRing() (Row, error) {
	a, err := algorithms.Lookup(schedule.AllReduce, "ring")
	if err != nil {
		return Row{}, err
	}
	c := &schedule.Call{Op: schedule.AllReduce, Size: l.Ranks, Count: l.Bytes / elementBytes, Line: cacheLine / elementBytes}
	p, err := price.Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, a.Emit) })
	if err != nil {
		return Row{}, err
	}
	pauses, arrival := make([][]float64, l.Ranks), make([]float64, l.Ranks)
	for r := range pauses {
		pauses[r] = l.pauses(r)
	}
	var row Row
	last := 0.0
	for i := range l.Iterations {
		for r := range arrival {
			arrival[r] += pauses[r][i]
		}
		res, err := p.Run(&l.Machine, price.Load{Element: elementBytes, Arrival: arrival})
		if err != nil {
			return Row{}, err
		}
		for r, x := range res.Ranks {
			row.Call += (x.Finish - arrival[r]) / float64(l.Ranks*l.Iterations)
			arrival[r] = x.Finish
		}
		last = res.Makespan
	}
	row.Rate = float64(l.Iterations) / last
	return row, nil
}

// A staleSim is the events of a loop with stale reductions over a hypercube, Algorithm 1
// of the paper, on ranks of which each has a link and a processor of its own.
type staleSim struct {
	*Loop
	slack, steps        int
	wire, fold, latency float64 // seconds for a vector
	ranks               []staleRank
	queue               heap.Heap[staleEvent]
	row                 Row
	end                 float64
}

// A staleRank is one rank in the simulation.
type staleRank struct {
	pauses  []float64
	clock   int // of its call, from 1
	step    int // of the call; -1 while it computes
	sent    bool
	oldest  int // clock of the oldest contribution in what it has folded
	began   float64
	parked  bool
	since   float64 // when it began to wait
	free    float64 // when its link is
	arrived [][]staleMessage
}

// A staleMessage is a contribution on its way or there.
type staleMessage struct {
	at    float64
	clock int
}

// A staleEvent is when a rank goes on.
type staleEvent struct {
	at   float64
	rank int
}

// Before reports whether e comes before f.
func (e staleEvent) Before(f staleEvent) bool { return e.at < f.at || e.at == f.at && e.rank < f.rank }

// newStaleSim is the start of a loop. The number of ranks is a power of two.
func newStaleSim(l *Loop, slack int) *staleSim {
	if l.Ranks&(l.Ranks-1) != 0 {
		panic(fmt.Sprintf("loop: a hypercube of %d ranks", l.Ranks))
	}
	s := &staleSim{
		Loop: l, slack: slack, steps: bits.Len(uint(l.Ranks)) - 1,
		wire: float64(l.Bytes) / l.Machine.Bandwidth, fold: float64(l.Bytes) / l.Machine.ReduceRate,
		latency: l.Machine.Network.Latency + l.Machine.Network.Put, ranks: make([]staleRank, l.Ranks),
	}
	for r := range s.ranks {
		s.ranks[r] = staleRank{pauses: l.pauses(r), step: -1, arrived: make([][]staleMessage, s.steps)}
		s.queue.Push(staleEvent{s.ranks[r].pauses[0], r})
	}
	return s
}

// run goes through all events.
func (s *staleSim) run() Row {
	for len(s.queue) > 0 {
		s.next()
	}
	calls := float64(len(s.ranks) * s.Iterations)
	return Row{Call: s.row.Call / calls, Wait: s.row.Wait / calls, Rate: float64(s.Iterations) / s.end}
}

// next takes the next event.
func (s *staleSim) next() {
	e := s.queue.Pop()
	s.goOn(e.rank, e.at)
}

// goOn is a step of a rank.
func (s *staleSim) goOn(id int, now float64) {
	r := &s.ranks[id]
	if r.step < 0 {
		r.clock++
		r.step, r.oldest, r.began = 0, r.clock, now
		// This call overwrites the buffer that the call before sent from.
		if r.free > now {
			s.queue.Push(staleEvent{r.free, id})
			return
		}
	}
	if !r.sent {
		s.send(id, now)
		r.since, r.sent = now, true
	}
	clock, next := r.newest(now, r.clock-s.slack)
	switch {
	case clock == 0 && next == 0:
		r.parked = true
		return
	case clock == 0:
		s.queue.Push(staleEvent{next, id})
		return
	}
	s.row.Wait += now - r.since
	r.oldest, r.sent = min(r.oldest, clock), false
	now += s.fold
	if r.step++; r.step < s.steps {
		s.queue.Push(staleEvent{now, id})
		return
	}
	s.row.Call += now - r.began
	s.end = max(s.end, now)
	if r.step = -1; r.clock < s.Iterations {
		s.queue.Push(staleEvent{now + r.pauses[r.clock], id})
	}
}

// send sends what a rank has folded to its partner of the step.
func (s *staleSim) send(id int, now float64) {
	r := &s.ranks[id]
	r.free = max(r.free, now) + s.wire
	peer := id ^ 1<<r.step
	p := &s.ranks[peer]
	m := staleMessage{r.free + s.latency, r.oldest}
	p.arrived[r.step] = append(p.arrived[r.step], m)
	if p.parked && p.step == r.step && m.clock >= p.clock-s.slack {
		p.parked = false
		s.queue.Push(staleEvent{max(m.at, now), peer})
	}
}

// newest is the clock of the last contribution that is there and new enough, 0 if none is,
// and then when one will be, 0 if that is not known.
func (r *staleRank) newest(now float64, need int) (clock int, next float64) {
	for _, m := range r.arrived[r.step] {
		if m.at > now {
			if m.clock >= need && clock == 0 {
				next = m.at
			}
			break
		}
		if m.clock >= need {
			clock = m.clock
		}
	}
	r.forget(now)
	return clock, next
}

// forget drops all that arrived before the last that is there.
func (r *staleRank) forget(now float64) {
	all := r.arrived[r.step]
	for len(all) > 1 && all[1].at <= now {
		all = all[1:]
	}
	r.arrived[r.step] = all
}

package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// barrier measures the barrier of all ranks.
func barrier() operation {
	return operation{
		name: "barrier",
		about: `a barrier of all ranks: that of the runtime, or with --algorithm that
of package collectives. Limit: each rank raises a bare flag at every
other and looks until it has all of theirs, in one round. Where ranks
outnumber cores it calls sched_yield between two looks (runtime.Gosched in
one process): the turns of the scheduler that no barrier there can avoid.`,
		minRanks: 2,
		maybe:    true,
		prepare:  prepareBarrier,
	}
}

func prepareBarrier(ctx context.Context, b *bench, _ uint64) ([]workload, error) {
	w := workload{Subject: report.Subject{Op: "barrier"}, timed: true, steps: 1}
	world := func(ctx context.Context) error { return b.p.Barrier(ctx, b.p.World()) }
	w.contenders = []contender{{report.ImplGaspi, repeat(ctx, world)}}
	if b.together {
		all, err := newMeeting(b)
		if err != nil {
			return nil, err
		}
		w.contenders = append(w.contenders, contender{report.ImplLimit, repeat(ctx, all.exchange)})
	}
	return []workload{w}, nil
}

// meeting is the bare exchange of flags between all ranks.
type meeting struct {
	b    *bench
	seq  counter
	mine []flag // raised by the others
	bell []flag // at the others, in the order of their distance
}

func newMeeting(b *bench) (*meeting, error) {
	m := &meeting{b: b}
	me, n := int(b.p.Rank()), b.p.Size()
	own, err := b.flags(b.p.Rank(), rankFlags, n)
	if err != nil {
		return nil, err
	}
	for d := 1; d < n; d++ {
		other := (me + d) % n
		theirs, err := b.flags(gaspi.Rank(other), rankFlags, n)
		if err != nil {
			return nil, err
		}
		m.mine = append(m.mine, &own[other])
		m.bell = append(m.bell, &theirs[me])
	}
	return m, nil
}

// exchange is one barrier. A rank may be one ahead of another, and its flag then
// shows the next number.
func (m *meeting) exchange(ctx context.Context) error {
	v := m.seq.next()
	for _, f := range m.bell {
		raise(f, v)
	}
	for _, f := range m.mine {
		if err := m.b.awaitFrom(ctx, f, v); err != nil {
			return err
		}
	}
	return nil
}

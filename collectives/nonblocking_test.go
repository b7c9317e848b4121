package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// TestNonblocking2 waits for handles in another order than they were started, on
// each rank in its own, and drops some of them.
func TestNonblocking2(t *testing.T) {
	const n = 24
	onTeam(t, 4, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		random := rand.New(rand.NewPCG(7, uint64(team.Rank())))
		for round := range 10 {
			bufs := make([][]int64, n)
			handles := make([]*collectives.Handle, n)
			for k := range n {
				bufs[k] = vector(k, func(i int) int64 { return int64(i*k + round + team.Rank()) })
				h, err := collectives.Start(ctx, team, collectives.AllReduceTask(bufs[k], collectives.Sum))
				if err != nil {
					return err
				}
				handles[k] = h
			}
			for _, k := range random.Perm(n) {
				if k%5 == 3 {
					continue // dropped: it goes on all the same
				}
				if err := handles[k].Wait(ctx); err != nil {
					return err
				}
				if err := matches(fmt.Sprintf("operation %d", k), bufs[k], func(i int) int64 { return int64(4*(i*k+round) + 6) }); err != nil {
					return err
				}
				if done, err := handles[k].Test(); !done || err != nil {
					return fmt.Errorf("a handle that was waited for is done: %v, %v", done, err)
				}
			}
			if err := collectives.Barrier(ctx, team); err != nil {
				return err
			}
			for k := 3; k < n; k += 5 { // calls end in their order where each waits for all ranks
				if err := handles[k].Wait(ctx); err != nil {
					return err
				}
				if err := matches(fmt.Sprintf("dropped operation %d", k), bufs[k], func(i int) int64 { return int64(4*(i*k+round) + 6) }); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// TestNonblocking3 is nonblocking3: random mixed operations, 20 of them under way at
// a time, with random pauses.
func TestNonblocking3(t *testing.T) {
	operations := 100_000
	if testing.Short() {
		operations = 2_000
	}
	nonblocking3(t, operations, func(*collectives.Team) {})
}

// TestNonblockingWithoutPatience has members that look for a reason whenever they wait, and find none.
func TestNonblockingWithoutPatience(t *testing.T) {
	operations := 20_000
	if testing.Short() {
		operations = 2_000
	}
	nonblocking3(t, operations, func(team *collectives.Team) { collectives.SetPatience(team, 20*time.Microsecond) })
}

func nonblocking3(t *testing.T, operations int, prepare func(*collectives.Team)) {
	seed := seedOf(t)
	const ranks = 4
	all := mixture(seed, ranks)
	reports := &reporter{log: func(err error) { t.Error(err) }}
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		m, err := newMember(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		prepare(m.team)
		if err := m.juggle(ctx, seed, all, operations, reports.report); err != nil {
			return err
		}
		return m.close(ctx)
	})
}

// mixture is an instance of each algorithm, with few elements.
func mixture(seed uint64, ranks int) []*instance {
	d := newDealer(seed, 1<<8)
	var all []*instance
	for _, a := range algorithms.All() {
		if a.Op != schedule.Barrier {
			all = append(all, d.draw(ranks, a.Op, a.Name))
		}
	}
	return all
}

// jugglers is how many operations are under way at a time.
const jugglers = 20

// juggle starts operations drawn from all, in the same order on all ranks, and waits
// for them in any order. Each has buffers of its own.
func (m *member) juggle(ctx context.Context, seed uint64, all []*instance, operations int, report func(error)) error {
	bounds := make([][jugglers]*vectors, len(all))
	for i, x := range all {
		for place := range jugglers {
			b, err := m.bind(ctx, x, place)
			if err != nil {
				return fmt.Errorf("%v: %w", x, err)
			}
			bounds[i][place] = b
		}
	}
	type flight struct {
		x      *instance
		b      *vectors
		round  int
		handle *collectives.Handle
	}
	var air [jugglers]*flight
	land := func(place int) error {
		f := air[place]
		if f == nil {
			return nil
		}
		air[place] = nil
		if err := f.handle.Wait(ctx); err != nil {
			return fmt.Errorf("operation %d, %v: %w", f.round, f.x, err)
		}
		check(f.x, f.b, f.round, report)
		return nil
	}
	common := rand.New(rand.NewPCG(seed, 3))
	own := rand.New(rand.NewPCG(seed, 100+uint64(m.rank)))
	for n := range operations {
		which, place := common.IntN(len(all)), common.IntN(jugglers)
		if err := land(place); err != nil {
			return err
		}
		f := &flight{x: all[which], b: bounds[which][place], round: n}
		f.b.fill(n)
		var err error
		if f.handle, err = collectives.Start(ctx, m.team, f.b.call); err != nil {
			return fmt.Errorf("operation %d, %v: %w", n, f.x, err)
		}
		air[place] = f
		switch own.IntN(10) {
		case 0:
			for range own.IntN(20) {
				runtime.Gosched()
			}
		case 1:
			if err := land(own.IntN(jugglers)); err != nil {
				return err
			}
		case 2:
			if _, err := f.handle.Test(); err != nil {
				return fmt.Errorf("operation %d, %v: %w", n, f.x, err)
			}
		}
	}
	for _, place := range own.Perm(jugglers) {
		if err := land(place); err != nil {
			return err
		}
	}
	return nil
}

// TestPOrder is p_order and p_inactive: plans are run in another order than they
// were made, several at once, and some never.
func TestPOrder(t *testing.T) {
	const n = 12
	onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		bufs, plans := make([][]int32, n), make([]*collectives.Plan, n)
		for k := range n {
			bufs[k] = make([]int32, 10*k+1)
			p, err := collectives.PlanAllReduce(ctx, team, bufs[k], collectives.Sum)
			if err != nil {
				return err
			}
			plans[k] = p
		}
		common := rand.New(rand.NewPCG(3, 4))
		for round := range 20 {
			order := common.Perm(n)[:n/2]
			handles := make(map[int]*collectives.Handle)
			for _, k := range order {
				for i := range bufs[k] {
					bufs[k][i] = int32(i*round + k + team.Rank())
				}
				h, err := plans[k].Start()
				if err != nil {
					return err
				}
				handles[k] = h
			}
			for i := range order {
				k := order[len(order)-1-i]
				if err := handles[k].Wait(ctx); err != nil {
					return err
				}
				if err := matches(fmt.Sprintf("plan %d", k), bufs[k], func(i int) int32 { return int32(3*(i*round+k) + 3) }); err != nil {
					return err
				}
			}
		}
		for _, k := range common.Perm(n) {
			if err := plans[k].Close(); err != nil {
				return err
			}
		}
		if _, err := plans[0].Start(); !errors.Is(err, gaspi.ErrClosed) {
			return fmt.Errorf("start of a closed plan: got %v, want %v", err, gaspi.ErrClosed)
		}
		if err := plans[0].Close(); err != nil {
			return fmt.Errorf("closing twice: %w", err)
		}
		return nil
	})
}

// TestPlanInUse begins a run of a plan that is under way.
func TestPlanInUse(t *testing.T) {
	onTeam(t, 2, collectives.Config{Progress: collectives.Caller}, func(ctx context.Context, team *collectives.Team) error {
		buf := make([]int32, 10)
		p, err := collectives.PlanAllReduce(ctx, team, buf, collectives.Sum)
		if err != nil {
			return err
		}
		h, err := p.Start()
		if err != nil {
			return err
		}
		if _, err := p.Start(); !errors.Is(err, gaspi.ErrInUse) {
			return fmt.Errorf("a second start: got %v, want %v", err, gaspi.ErrInUse)
		}
		if err := p.Close(); !errors.Is(err, gaspi.ErrInUse) {
			return fmt.Errorf("close under way: got %v, want %v", err, gaspi.ErrInUse)
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		return p.Close()
	})
}

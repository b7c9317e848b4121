package collectives_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// storeSize is the bytes that a rank has for buffers of either sort, and bufferMost
// those of the longest vector of an instance: up to eight of them are used at once. Of
// one with long blocks it is skewedMost, and two are, in a store of skewedSize.
const (
	storeSize  = 2 << 20
	bufferMost = 128 << 10
	skewedSize = 8 << 20
	skewedMost = 3 << 20
)

// A store is memory for the buffers of one instance after the other.
type store struct {
	bytes []byte
	next  int
}

// A guard is memory beside a buffer, which nobody may write.
type guard []byte

const (
	guardSize = 128
	guardByte = 0xa5
)

func (g guard) intact() bool { return bytes.Count(g, []byte{guardByte}) == len(g) }

// take is a vector of n elements of some bytes that begins shift elements behind a cache line,
// between two guards. It has room for as many elements as any rank has, and one, so
// that the buffers of all ranks lie alike.
func (s *store) take(guards *[]guard, n, room, shift, size int) []byte {
	at := (s.next+guardSize+63)/64*64 + shift*size
	end, last := at+n*size, at+(room+1)*size
	s.next = last + guardSize
	if s.next > len(s.bytes) {
		panic(fmt.Sprintf("a store of %d bytes does not hold %d elements of %d bytes behind byte %d", len(s.bytes), room+1, size, at))
	}
	before, after := s.bytes[at-guardSize:at], s.bytes[end:end+guardSize]
	for _, g := range [][]byte{before, after} {
		for i := range g {
			g[i] = guardByte
		}
		*guards = append(*guards, g)
	}
	return s.bytes[at:end:last]
}

// aligned is memory for elements of any type.
func aligned(size int) []byte { return reduce.BytesOf(make([]complex128, (size+15)/16))[:size] }

// A member is a rank that runs instances on a team.
type member struct {
	proc    *gaspi.Proc
	team    *collectives.Team
	rank    int
	own     store // plain memory
	reached store // memory that peers reach
	barrier *gaspi.Segment
}

// newMember makes a team of a group, and memory. It is collective.
func newMember(ctx context.Context, g *gaspi.Group, cfg collectives.Config) (*member, error) {
	team, err := collectives.NewTeam(ctx, g, cfg)
	if err != nil {
		return nil, err
	}
	m := &member{proc: g.Proc(), team: team, rank: team.Rank()}
	return m, m.grow(ctx, storeSize)
}

// grow makes the stores as large as size. It is collective.
func (m *member) grow(ctx context.Context, size int) (err error) {
	if len(m.own.bytes) >= size {
		return nil
	}
	m.own.bytes = aligned(size)
	m.reached.bytes, err = collectives.Alloc[byte](ctx, m.team, size)
	return err
}

func (m *member) store(reached bool) *store {
	if reached {
		return &m.reached
	}
	return &m.own
}

// close ends the member's part. It is collective.
func (m *member) close(ctx context.Context) error {
	if err := m.proc.Barrier(ctx, m.team.Group()); err != nil {
		return err
	}
	return m.team.Close()
}

// flights is how many operations of an instance are under way at once.
const flights = 3

// run runs an instance. Wrong results go to report; an error is the end.
func (m *member) run(ctx context.Context, x *instance, report func(error)) error {
	m.own.next, m.reached.next = 0, 0
	if x.longest()*x.kind.size > bufferMost {
		if err := m.grow(ctx, skewedSize); err != nil {
			return err
		}
	}
	copies := 1
	if x.mode == flying {
		copies = flights
	}
	var bounds []*vectors
	for c := range copies {
		b, err := m.bind(ctx, x, c)
		if err != nil {
			return fmt.Errorf("%v: %w", x, err)
		}
		bounds = append(bounds, b)
	}
	var err error
	switch {
	case x.op == schedule.Barrier:
		err = m.runBarrier(ctx, x, bounds[0], report)
	case x.mode == flying:
		err = m.runFlying(ctx, x, bounds, report)
	case x.mode == planned:
		err = m.runPlan(ctx, x, bounds[0], report)
	default:
		err = m.runBlocking(ctx, x, bounds[0], report)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", x, err)
	}
	return nil
}

func (m *member) runBlocking(ctx context.Context, x *instance, b *vectors, report func(error)) error {
	for round := range x.rounds {
		b.fill(round)
		if err := collectives.Do(ctx, m.team, b.call); err != nil {
			return err
		}
		check(x, b, round, report)
	}
	return nil
}

func (m *member) runFlying(ctx context.Context, x *instance, all []*vectors, report func(error)) error {
	random := rand.New(rand.NewPCG(x.seed, uint64(m.rank)))
	for round := range x.rounds {
		handles := make([]*collectives.Handle, len(all))
		for i, b := range all {
			b.fill(round)
			h, err := collectives.Start(ctx, m.team, b.call)
			if err != nil {
				return err
			}
			handles[i] = h
		}
		for _, i := range random.Perm(len(all)) {
			if random.IntN(4) == 0 {
				if _, err := handles[i].Test(); err != nil {
					return err
				}
			}
			if err := handles[i].Wait(ctx); err != nil {
				return err
			}
			check(x, all[i], round, report)
		}
	}
	return nil
}

func (m *member) runPlan(ctx context.Context, x *instance, b *vectors, report func(error)) error {
	p, err := collectives.NewPlan(ctx, m.team, b.call)
	if err != nil {
		return err
	}
	for round := range x.rounds {
		b.fill(round)
		if round%2 == 0 {
			err = p.Run(ctx)
		} else if h, serr := p.Start(); serr != nil {
			err = serr
		} else {
			err = h.Wait(ctx)
		}
		if err != nil {
			return err
		}
		check(x, b, round, report)
	}
	return p.Close()
}

// runBarrier counts arrivals at rank 0: who has passed finds those of all.
func (m *member) runBarrier(ctx context.Context, x *instance, b *vectors, report func(error)) error {
	if m.barrier == nil {
		seg, err := m.proc.CreateSegment(ctx, 0, 64, gaspi.Over(m.team.Group()))
		if err != nil {
			return err
		}
		m.barrier = seg
	}
	counter := m.barrier.At(m.team.Ranks()[0], 0)
	for round := range x.rounds {
		if _, err := m.proc.FetchAdd(ctx, counter, 1); err != nil {
			return err
		}
		if err := collectives.Do(ctx, m.team, b.call); err != nil {
			return err
		}
		arrived, err := m.proc.FetchAdd(ctx, counter, 0)
		if err != nil {
			return err
		}
		if want := uint64((round + 1) * x.ranks); arrived < want {
			report(fmt.Errorf("%v: round %d: rank %d passed when %d had arrived, want %d", x, round, m.rank, arrived, want))
		}
	}
	if err := m.proc.Barrier(ctx, m.team.Group()); err != nil {
		return err
	}
	if _, err := m.proc.FetchAdd(ctx, counter, -uint64(x.rounds)); err != nil {
		return err
	}
	return m.proc.Barrier(ctx, m.team.Group())
}

func check(x *instance, b *vectors, round int, report func(error)) {
	if err := b.check(round); err != nil {
		report(fmt.Errorf("%v: %w", x, err))
	}
}

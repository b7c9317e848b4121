package distfft

import (
	"context"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// An engine runs transforms of one precision on one rank.
type engine[F Real] struct {
	*steps[F]
	depth  int
	teams  []*collectives.Team
	bands  []*band[F] // in use in turn
	under  []*collectives.Handle
	polled time.Time // when they were last helped on
}

// newEngine makes teams and memory. It is collective over the group and blocks.
func newEngine[F Real](ctx context.Context, group *gaspi.Group, cfg Config, isReal bool) (*engine[F], error) {
	rank, _ := group.Rank()
	s, err := newSteps[F](newLayout(cfg, isReal), rank, isReal)
	if err != nil {
		return nil, err
	}
	e := &engine[F]{steps: s, depth: cfg.Depth}
	s.worker.breathe = e.poll
	if err := e.open(ctx, group, cfg); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// open makes the teams that exchange, and the bands. Teams of rows and columns are split
// from one team, so that the loss of a rank ends the calls of all of them.
func (e *engine[F]) open(ctx context.Context, group *gaspi.Group, cfg Config) error {
	l := e.distribution
	all, err := collectives.NewTeam(ctx, group, collectives.Config{})
	if err != nil {
		return err
	}
	e.teams = append(e.teams, all)
	zyTeam, err := e.team(ctx, all, l.q, e.atP, e.atQ)
	if err != nil {
		return err
	}
	yxTeam, err := e.team(ctx, all, l.p, e.atQ, e.atP)
	if err != nil {
		return err
	}
	for range l.bandsAtATime(cfg.Depth) {
		b := &band[F]{}
		if l.q > 1 {
			if b.zy, err = newExchange[F](ctx, zyTeam, l.zy(e.atP, e.atQ), cfg.AllToAll); err != nil {
				return err
			}
		}
		if b.yx, err = newExchange[F](ctx, yxTeam, l.yx(e.atP, e.atQ), cfg.AllToAll); err != nil {
			return err
		}
		e.bands = append(e.bands, b)
	}
	return nil
}

// team makes the team of the members that are in a line of the grid of ranks, of size
// members, with this rank at a place in it; nil for a team of one. It is collective over
// all members and blocks.
func (e *engine[F]) team(ctx context.Context, all *collectives.Team, size, line, at int) (*collectives.Team, error) {
	switch size {
	case 1:
		return nil, nil
	case all.Size():
		return all, nil
	}
	team, err := all.Split(ctx, line, at)
	if err != nil {
		return nil, err
	}
	e.teams = append(e.teams, team)
	return team, nil
}

// transform runs the steps of so many bands. In step t, band t does its first part,
// band t-depth its second, and so on: so depth bands are in each exchange while
// others are computed. buffers are the destination and source of a band.
func (e *engine[F]) transform(ctx context.Context, bands int, inverse bool, buffers func(band int) (dst, src []byte)) error {
	active := min(len(e.bands), bands)
	parts := make([][]func() error, active) // by place of the band
	begun := make([][]*collectives.Handle, active)
	last := e.distribution.parts() - 1
	for t := 0; t <= bands-1+last*e.depth; t++ {
		for part := 0; part <= last; part++ {
			i := t - part*e.depth
			if i < 0 || i >= bands {
				continue
			}
			place := i % active
			b := e.bands[place]
			if part == 0 {
				dst, src := buffers(i)
				parts[place] = e.steps.of(b, inverse, segment.Of[F](dst), segment.Of[F](src))
				begun[place] = nil
			}
			if part > 0 {
				if err := e.await(ctx, begun[place][part-1]); err != nil {
					return err
				}
			}
			if err := parts[place][part](); err != nil {
				return err
			}
			if part == last {
				continue
			}
			h, err := e.begin(b, part, inverse)
			if err != nil {
				return err
			}
			begun[place] = append(begun[place], h)
		}
	}
	return nil
}

// exchange makes the exchanges of one band and nothing else.
func (e *engine[F]) exchange(ctx context.Context) error {
	for part := range e.distribution.parts() - 1 {
		h, err := e.begin(e.bands[0], part, false)
		if err == nil {
			err = e.await(ctx, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin starts the exchange behind this part of a band; nil if there is none.
func (e *engine[F]) begin(b *band[F], part int, inverse bool) (*collectives.Handle, error) {
	x := b.yx
	if b.zy != nil && (part == 0) != inverse {
		x = b.zy
	}
	p := x.forth
	if inverse {
		p = x.back
	}
	if p == nil {
		return nil, nil
	}
	t := stopwatch{since: time.Now()}
	h, err := p.Start()
	t.lap(&e.worker.times.Exchange)
	if err == nil {
		e.under = append(e.under, h)
	}
	return h, err
}

// await blocks until an exchange has ended; nil has.
func (e *engine[F]) await(ctx context.Context, h *collectives.Handle) error {
	if h == nil {
		return nil
	}
	t := stopwatch{since: time.Now()}
	err := h.Wait(ctx)
	t.lap(&e.worker.times.Wait)
	for i, u := range e.under {
		if u == h {
			e.under = append(e.under[:i], e.under[i+1:]...)
			break
		}
	}
	return err
}

// pollEvery is how often exchanges are helped on while others are computed: a fraction
// of the latency of a network, and many times what it costs.
const pollEvery = 50 * time.Microsecond

// poll lets all exchanges under way go on if the last time is long enough ago.
func (e *engine[F]) poll(now time.Time) error {
	if len(e.under) == 0 || now.Sub(e.polled) < pollEvery {
		return nil
	}
	t := stopwatch{since: now}
	defer func() {
		t.lap(&e.worker.times.Exchange)
		e.polled = t.since
	}()
	for _, h := range e.under {
		if _, err := h.Test(); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine[F]) spent() *Times { return &e.worker.times }

// close gives everything back, without asking others.
func (e *engine[F]) close() error {
	var first error
	for _, t := range slices.Backward(e.teams) {
		if err := t.Close(); first == nil {
			first = err
		}
	}
	e.teams = nil
	return first
}

package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// movement draws an operation that moves blocks and combines nothing.
func movement[T comparable](ctx context.Context, e *ensemble, a arithmetic[T]) (*boundCall, error) {
	s := newShape(e, a)
	kinds := 6
	if e.style.vforms {
		if e.plan.IntN(4) == 0 {
			return s.allToAllV(ctx)
		}
		kinds = 3
	}
	switch e.plan.IntN(kinds) {
	case 0:
		return s.gather(ctx)
	case 1:
		return s.scatter(ctx)
	case 2:
		return s.allGather(ctx)
	case 3:
		return s.allToAll(ctx)
	case 4:
		return s.exchange(ctx)
	}
	return s.broadcast(ctx)
}

// take makes the two buffers of a call.
func (s *callShape[T]) take(ctx context.Context, src, dst int) (err error) {
	if s.src, err = buffer[T](ctx, s.ensemble, src); err != nil {
		return err
	}
	s.dst, err = buffer[T](ctx, s.ensemble, dst)
	return err
}

// whole is the inputs of all members, one behind the other.
func (s *callShape[T]) whole(run uint64) []T {
	var all []T
	for m, n := range s.blocks {
		all = append(all, s.of(run, m, n)...)
	}
	return all
}

// sumOf adds up lengths.
func sumOf(lengths []int) (sum int) {
	for _, n := range lengths {
		sum += n
	}
	return sum
}

// finishing gives a call its task and its blocking form: nil means Do of the task.
func (s *callShape[T]) finishing(c *boundCall, task func(opts ...collectives.Option) collectives.Task,
	blocking func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error), more ...collectives.Option) (*boundCall, error) {
	if blocking == nil {
		blocking = func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return silent(collectives.Do(ctx, s.team, task(opts...)))
		}
	}
	var opts []collectives.Option
	if s.counts == nil && len(more) == 0 {
		var how string
		var err error
		if opts, how, err = s.options(s.n*s.size, task); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		c.name += how
	}
	opts = append(opts, more...)
	c.task = func(context.Context) (collectives.Task, error) { return task(opts...), nil }
	c.blocking = func(ctx context.Context) (collectives.Status, error) { return blocking(ctx, opts...) }
	return c, nil
}

// takeBlocks makes the two buffers of a call, one for the block of this member and one for
// those of all.
func (s *callShape[T]) takeBlocks(ctx context.Context) (own, all []T, err error) {
	if own, err = buffer[T](ctx, s.ensemble, slices.Max(s.blocks)); err != nil {
		return nil, nil, err
	}
	all, err = buffer[T](ctx, s.ensemble, sumOf(s.blocks))
	return own[:s.blocks[s.place]], all, err
}

// v is the letter behind the name of an operation whose blocks differ in length.
func (s *callShape[T]) v() string {
	if s.counts != nil {
		return "V"
	}
	return ""
}

// contribute fills the source with the input of this member.
func (s *callShape[T]) contribute(run uint64) { copy(s.src, s.of(run, s.place, len(s.src))) }

func (s *callShape[T]) gather(ctx context.Context) (_ *boundCall, err error) {
	if s.src, s.dst, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	dst := s.dst
	if !s.alloc && s.place != s.root {
		dst = nil
	}
	check := func(run uint64, _ collectives.Status) error {
		if err := same("src", s.src, s.of(run, s.place, len(s.src))); err != nil || s.place != s.root {
			return err
		}
		return same("dst of the root", s.dst, s.whole(run))
	}
	return s.finishing(s.call(fmt.Sprintf("Gather%s to %d", s.v(), s.root), s.contribute, check),
		func(opts ...collectives.Option) collectives.Task {
			if s.counts != nil {
				return collectives.GatherVTask(s.team, s.root, dst, s.src, s.counts, opts...)
			}
			return collectives.GatherTask(s.team, s.root, dst, s.src, opts...)
		}, nil)
}

// scatter sends each member the block that it would contribute.
func (s *callShape[T]) scatter(ctx context.Context) (_ *boundCall, err error) {
	if s.dst, s.src, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	src := s.src
	if !s.alloc && s.place != s.root {
		src = nil
	}
	fill := func(run uint64) {
		if s.place == s.root {
			copy(s.src, s.whole(run))
		}
	}
	check := func(run uint64, _ collectives.Status) error {
		return same("dst", s.dst, s.of(run, s.place, len(s.dst)))
	}
	return s.finishing(s.call(fmt.Sprintf("Scatter%s from %d", s.v(), s.root), fill, check),
		func(opts ...collectives.Option) collectives.Task {
			if s.counts != nil {
				return collectives.ScatterVTask(s.team, s.root, s.dst, src, s.counts, opts...)
			}
			return collectives.ScatterTask(s.team, s.root, s.dst, src, opts...)
		}, nil)
}

func (s *callShape[T]) allGather(ctx context.Context) (_ *boundCall, err error) {
	if s.src, s.dst, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	if s.inPlace && s.counts == nil {
		s.src = s.dst[s.place*s.n:][:s.n]
	}
	check := func(run uint64, _ collectives.Status) error { return same("dst", s.dst, s.whole(run)) }
	c := s.call("AllGather"+s.v(), s.contribute, check)
	if s.counts != nil {
		return s.finishing(c, func(opts ...collectives.Option) collectives.Task {
			return collectives.AllGatherVTask(s.team, s.dst, s.src, s.counts, opts...)
		}, nil)
	}
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllGatherTask(s.team, s.dst, s.src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return silent(collectives.AllGather(ctx, s.team, s.dst, s.src, opts...))
		})
}

package torture

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// movement draws an operation that moves blocks and combines nothing.
func movement[T comparable](ctx context.Context, e *ensemble, a arithmetic[T]) (*boundCall, error) {
	s := newShape(e, a)
	if e.style.vforms {
		switch e.plan.IntN(4) {
		case 0:
			return s.gatherV(ctx)
		case 1:
			return s.scatterV(ctx)
		case 2:
			return s.allToAllV(ctx)
		}
		return s.allGatherV(ctx)
	}
	switch e.plan.IntN(6) {
	case 0:
		return s.broadcast(ctx)
	case 1:
		return s.gather(ctx)
	case 2:
		return s.scatter(ctx)
	case 3:
		return s.allToAll(ctx)
	case 4:
		return s.exchange(ctx)
	}
	return s.allGather(ctx)
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
func (s *callShape[T]) whole(run uint64, lengths []int) []T {
	var all []T
	for m, n := range lengths {
		all = append(all, s.of(run, m, n)...)
	}
	return all
}

// equal is one length for each member.
func (s *callShape[T]) equal() []int {
	all := make([]int, s.size)
	for i := range all {
		all[i] = s.n
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

// finishing gives a call its task and its blocking form.
func (s *callShape[T]) finishing(c *boundCall, task func(opts ...collectives.Option) collectives.Task,
	blocking func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error), more ...collectives.Option) (*boundCall, error) {
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

func (s *callShape[T]) gather(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, s.n, s.n*s.size); err != nil {
		return nil, err
	}
	dst := s.dst
	if !s.alloc && s.place != s.root {
		dst = nil
	}
	c := s.call(fmt.Sprintf("Gather to %d", s.root), func(run uint64) { copy(s.src, s.of(run, s.place, s.n)) },
		func(run uint64, _ collectives.Status) error { return s.atRoot(run, s.equal()) })
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.GatherTask(s.team, s.root, dst, s.src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.Gather(ctx, s.team, s.root, dst, s.src, opts...))
		})
}

// atRoot checks a gather.
func (s *callShape[T]) atRoot(run uint64, lengths []int) error {
	if err := same("src", s.src, s.of(run, s.place, len(s.src))); err != nil || s.place != s.root {
		return err
	}
	return same("dst of the root", s.dst, s.whole(run, lengths))
}

func (s *callShape[T]) gatherV(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, 1<<18, sumOf(s.counts)); err != nil {
		return nil, err
	}
	s.src = s.src[:s.counts[s.place]]
	c := s.call(fmt.Sprintf("GatherV to %d", s.root), func(run uint64) { copy(s.src, s.of(run, s.place, len(s.src))) },
		func(run uint64, _ collectives.Status) error { return s.atRoot(run, s.counts) })
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.GatherVTask(s.team, s.root, s.dst, s.src, s.counts, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.GatherV(ctx, s.team, s.root, s.dst, s.src, s.counts, opts...))
		})
}

// scatterFill and scatterCheck are of both forms of scatter: block m of the root is what
// member m would contribute.
func (s *callShape[T]) scatterFill(lengths []int) func(run uint64) {
	return func(run uint64) {
		if s.place == s.root {
			copy(s.src, s.whole(run, lengths))
		}
	}
}

func (s *callShape[T]) scatterCheck(run uint64, _ collectives.Status) error {
	return same("dst", s.dst, s.of(run, s.place, len(s.dst)))
}

func (s *callShape[T]) scatter(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, s.n*s.size, s.n); err != nil {
		return nil, err
	}
	src := s.src
	if !s.alloc && s.place != s.root {
		src = nil
	}
	c := s.call(fmt.Sprintf("Scatter from %d", s.root), s.scatterFill(s.equal()), s.scatterCheck)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ScatterTask(s.team, s.root, s.dst, src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.Scatter(ctx, s.team, s.root, s.dst, src, opts...))
		})
}

func (s *callShape[T]) scatterV(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, sumOf(s.counts), 1<<18); err != nil {
		return nil, err
	}
	s.dst = s.dst[:s.counts[s.place]]
	c := s.call(fmt.Sprintf("ScatterV from %d", s.root), s.scatterFill(s.counts), s.scatterCheck)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ScatterVTask(s.team, s.root, s.dst, s.src, s.counts, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.ScatterV(ctx, s.team, s.root, s.dst, s.src, s.counts, opts...))
		})
}

func (s *callShape[T]) allGather(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, s.n, s.n*s.size); err != nil {
		return nil, err
	}
	if s.inPlace {
		s.src = s.dst[s.place*s.n:][:s.n]
	}
	c := s.call("AllGather", func(run uint64) { copy(s.src, s.of(run, s.place, s.n)) },
		func(run uint64, _ collectives.Status) error { return same("dst", s.dst, s.whole(run, s.equal())) })
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllGatherTask(s.team, s.dst, s.src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.AllGather(ctx, s.team, s.dst, s.src, opts...))
		})
}

func (s *callShape[T]) allGatherV(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, 1<<18, sumOf(s.counts)); err != nil {
		return nil, err
	}
	s.src = s.src[:s.counts[s.place]]
	c := s.call("AllGatherV", func(run uint64) { copy(s.src, s.of(run, s.place, len(s.src))) },
		func(run uint64, _ collectives.Status) error { return same("dst", s.dst, s.whole(run, s.counts)) })
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllGatherVTask(s.team, s.dst, s.src, s.counts, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.AllGatherV(ctx, s.team, s.dst, s.src, s.counts, opts...))
		})
}

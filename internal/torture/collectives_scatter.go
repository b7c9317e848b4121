package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// blockwise is a reduction of long vectors, of which each member gets a block.
func (s *callShape[T]) blockwise(ctx context.Context, how string, task func(opts ...collectives.Option) collectives.Task,
	blocking func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error)) (_ *boundCall, err error) {
	if s.counts == nil {
		s.n /= s.size
		s.blocks = slices.Repeat([]int{s.n}, s.size)
	}
	if s.dst, s.src, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	s.inPlace = s.inPlace && s.counts == nil
	first := sumOf(s.blocks[:s.place])
	if s.inPlace {
		s.dst = s.src[first:][:s.n]
	}
	total, name, who := len(s.src), "ReduceScatter", upTo(s.size)
	if s.many {
		if s.more, err = buffer[T](ctx, s.ensemble, total); err != nil {
			return nil, err
		}
		name, who = "ReduceScatterMany", nil
		for i := range s.size {
			who = append(who, i, i+s.size)
		}
	}
	fill := func(run uint64) {
		s.contribute(run)
		copy(s.more, s.of(run, s.place+s.size, len(s.more)))
	}
	check := func(run uint64, _ collectives.Status) error {
		if err := same("the second source", s.more, s.of(run, s.place+s.size, len(s.more))); err != nil {
			return err
		}
		return same("dst", s.dst, s.sum(run, who, total)[first:first+len(s.dst)])
	}
	return s.finishing(s.call(fmt.Sprintf("%s%s, %s, in place %v,", name, s.v(), how, s.inPlace), fill, check), task, blocking)
}

// drawMany draws whether a call has a second source. The operation is then one that is exact with twice as
// many; a function is any.
func (s *callShape[T]) drawMany() {
	if s.many = s.plan.IntN(3) == 0; s.many && len(s.a.ops) > 0 {
		s.op = s.a.ops[0]
	}
}

// sources are the sources of a call with a second one.
func (s *callShape[T]) sources() [][]T { return [][]T{s.src, s.more} }

func reduceScatter[T number](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	s.drawMany()
	if s.counts != nil {
		return s.blockwise(ctx, s.op.String(), func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyVTask(s.team, s.dst, s.sources(), s.counts, s.op, opts...)
			}
			return collectives.ReduceScatterVTask(s.team, s.dst, s.src, s.counts, s.op, opts...)
		}, nil)
	}
	return s.blockwise(ctx, s.op.String(),
		func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyTask(s.team, s.dst, s.sources(), s.op, opts...)
			}
			return collectives.ReduceScatterTask(s.team, s.dst, s.src, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			if s.many {
				return silent(collectives.ReduceScatterMany(ctx, s.team, s.dst, s.sources(), s.op, opts...))
			}
			return silent(collectives.ReduceScatter(ctx, s.team, s.dst, s.src, s.op, opts...))
		})
}

// prefix checks a scan: the reduction of the first members, or what was there if there are none.
func (s *callShape[T]) prefix(members int) func(run uint64, _ collectives.Status) error {
	return func(run uint64, _ collectives.Status) error {
		if members == 0 {
			return same("buf", s.dst, s.of(run, s.place, s.n))
		}
		return same("buf", s.dst, s.sum(run, upTo(members), s.n))
	}
}

func scan[T number](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("Scan, %v,", s.op), s.input, s.prefix(s.place+1)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ScanTask(s.dst, s.op, opts...)
		}, nil)
}

func exScan[T number](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("ExScan, %v,", s.op), s.input, s.prefix(s.place)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ExScanTask(s.dst, s.op, opts...)
		}, nil)
}

// fold draws a reduction by a function of the program, which may depend on the order.
func (e *ensemble) fold(ctx context.Context) (*boundCall, error) {
	ordered := e.plan.IntN(2) == 0
	s := newShape(e, affines(ordered))
	fn := func(dst, a, b []affine) {
		for i := range dst {
			dst[i] = s.a.fold(0, a[i], b[i])
		}
	}
	if e.plan.IntN(5) == 0 {
		s.drawMany()
		return s.blockwise(ctx, fmt.Sprintf("by a function, ordered %v", ordered), func(opts ...collectives.Option) collectives.Task {
			if s.many {
				return collectives.ReduceScatterManyFuncTask(s.team, s.dst, s.sources(), fn, ordered, opts...)
			}
			return collectives.ReduceScatterFuncTask(s.team, s.dst, s.src, fn, ordered, opts...)
		}, nil)
	}
	if err := s.take(ctx, s.n, s.n); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("Func, ordered %v,", ordered)
	switch e.plan.IntN(4) {
	case 0:
		return s.reduceFunc(fn, ordered)
	case 1:
		return s.finishing(s.call("Scan"+name, s.input, s.prefix(s.place+1)),
			func(opts ...collectives.Option) collectives.Task {
				return collectives.ScanFuncTask(s.dst, fn, ordered, opts...)
			}, nil)
	case 2:
		return s.finishing(s.call("ExScan"+name, s.input, s.prefix(s.place)),
			func(opts ...collectives.Option) collectives.Task {
				return collectives.ExScanFuncTask(s.dst, fn, ordered, opts...)
			}, nil)
	}
	return s.finishing(s.call("AllReduce"+name, s.input, s.summed),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceFuncTask(s.dst, fn, ordered, opts...)
		}, nil)
}

// reduceFunc is ReduceFunc of affine functions.
func (s *callShape[T]) reduceFunc(fn collectives.Func[T], ordered bool) (*boundCall, error) {
	check := func(run uint64, _ collectives.Status) error {
		if s.place != s.root {
			return same("buf of another member than the root", s.dst, s.of(run, s.place, s.n))
		}
		return same("buf of the root", s.dst, s.sum(run, upTo(s.size), s.n))
	}
	return s.finishing(s.call(fmt.Sprintf("ReduceFunc to %d, ordered %v,", s.root, ordered), s.input, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceFuncTask(s.root, s.dst, fn, ordered, opts...)
		}, nil)
}

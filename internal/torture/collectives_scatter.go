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
	total := len(s.src)
	check := func(run uint64, _ collectives.Status) error {
		return same("dst", s.dst, s.sum(run, upTo(s.size), total)[first:first+len(s.dst)])
	}
	return s.finishing(s.call(fmt.Sprintf("ReduceScatter%s, %s, in place %v,", s.v(), how, s.inPlace), s.contribute, check), task, blocking)
}

func reduceScatter[T number](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	if s.counts != nil {
		return s.blockwise(ctx, s.op.String(), func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceScatterVTask(s.team, s.dst, s.src, s.counts, s.op, opts...)
		}, nil)
	}
	return s.blockwise(ctx, s.op.String(),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceScatterTask(s.team, s.dst, s.src, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
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
		return s.blockwise(ctx, fmt.Sprintf("by a function, ordered %v", ordered), func(opts ...collectives.Option) collectives.Task {
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

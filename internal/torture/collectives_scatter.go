package torture

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// block checks one block of the reduction of long vectors.
func (s *callShape[T]) block(run uint64, first, total int) error {
	return same("dst", s.dst, s.sum(run, upTo(s.size), total)[first:first+len(s.dst)])
}

func reduceScatter[T interface {
	collectives.Element
	comparable
}](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	s.n = s.n / s.size
	total := s.n * s.size
	if err := s.take(ctx, total, s.n); err != nil {
		return nil, err
	}
	if s.inPlace {
		s.dst = s.src[s.place*s.n:][:s.n]
	}
	fill := func(run uint64) { copy(s.src, s.of(run, s.place, total)) }
	check := func(run uint64, _ collectives.Status) error { return s.block(run, s.place*s.n, total) }
	return s.finishing(s.call(fmt.Sprintf("ReduceScatter, %v, in place %v,", s.op, s.inPlace), fill, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceScatterTask(s.team, s.dst, s.src, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.ReduceScatter(ctx, s.team, s.dst, s.src, s.op, opts...))
		})
}

func reduceScatterV[T interface {
	collectives.Element
	comparable
}](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	total := sumOf(s.counts)
	if err := s.take(ctx, total, 1<<18); err != nil {
		return nil, err
	}
	s.dst = s.dst[:s.counts[s.place]]
	fill := func(run uint64) { copy(s.src, s.of(run, s.place, total)) }
	check := func(run uint64, _ collectives.Status) error {
		return s.block(run, sumOf(s.counts[:s.place]), total)
	}
	return s.finishing(s.call(fmt.Sprintf("ReduceScatterV, %v,", s.op), fill, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceScatterVTask(s.team, s.dst, s.src, s.counts, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.ReduceScatterV(ctx, s.team, s.dst, s.src, s.counts, s.op, opts...))
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

func scan[T interface {
	collectives.Element
	comparable
}](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("Scan, %v,", s.op), s.input, s.prefix(s.place+1)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ScanTask(s.dst, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.Scan(ctx, s.team, s.dst, s.op, opts...))
		})
}

func exScan[T interface {
	collectives.Element
	comparable
}](s *callShape[T]) (*boundCall, error) {
	return s.finishing(s.call(fmt.Sprintf("ExScan, %v,", s.op), s.input, s.prefix(s.place)),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ExScanTask(s.dst, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.ExScan(ctx, s.team, s.dst, s.op, opts...))
		})
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
		return s.scatterFunc(ctx, fn, ordered)
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
			},
			func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
				return simple(collectives.ScanFunc(ctx, s.team, s.dst, fn, ordered, opts...))
			})
	case 2:
		return s.finishing(s.call("ExScan"+name, s.input, s.prefix(s.place)),
			func(opts ...collectives.Option) collectives.Task {
				return collectives.ExScanFuncTask(s.dst, fn, ordered, opts...)
			},
			func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
				return simple(collectives.ExScanFunc(ctx, s.team, s.dst, fn, ordered, opts...))
			})
	}
	return s.finishing(s.call("AllReduce"+name, s.input, s.summed),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceFuncTask(s.dst, fn, ordered, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.AllReduceFunc(ctx, s.team, s.dst, fn, ordered, opts...))
		})
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
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return collectives.ReduceFunc(ctx, s.team, s.root, s.dst, fn, ordered, opts...)
		})
}

// scatterFunc is ReduceScatterFunc of affine functions.
func (s *callShape[T]) scatterFunc(ctx context.Context, fn collectives.Func[T], ordered bool) (*boundCall, error) {
	s.n = s.n / s.size
	total := s.n * s.size
	if err := s.take(ctx, total, s.n); err != nil {
		return nil, err
	}
	fill := func(run uint64) { copy(s.src, s.of(run, s.place, total)) }
	check := func(run uint64, _ collectives.Status) error { return s.block(run, s.place*s.n, total) }
	return s.finishing(s.call(fmt.Sprintf("ReduceScatterFunc, ordered %v,", ordered), fill, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceScatterFuncTask(s.team, s.dst, s.src, fn, ordered, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return simple(collectives.ReduceScatterFunc(ctx, s.team, s.dst, s.src, fn, ordered, opts...))
		})
}

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A call is a collective operation as one rank makes it, whatever its elements
// are.
type call struct {
	task    collectives.Task
	once    func(ctx context.Context) error // the call itself
	own     sides                           // what it and its limit work on
	release func(ctx context.Context) error
}

// sides are the vectors of a rank. In place they are one.
type sides struct {
	in, out []byte
	fill    func(iteration int)
	check   func(iteration int) error
}

// An opener makes the vectors of a call of the collective operations of a team,
// and the call on them.
type opener func(ctx context.Context, t *collectives.Team, c *collective, s *shape) (*call, error)

// openVectors is the opener for elements that of makes of numbers.
func openVectors[T reduce.Element](of func(int) T) opener {
	return func(ctx context.Context, t *collectives.Team, c *collective, s *shape) (*call, error) {
		p, release := plainPair[T](s), func(context.Context) error { return nil }
		if !c.plain {
			var err error
			if p, release, err = allocate[T](ctx, t, s); err != nil {
				return nil, err
			}
		}
		k := &call{release: release, own: p.sides(t.Rank(), c, s, of)}
		k.task, k.once = p.call(t, c, s)
		return k, nil
	}
}

// A vectorPair is the vectors of a rank.
type vectorPair[T reduce.Element] struct{ in, out []T }

// plainPair makes vectors of a rank's own.
func plainPair[T reduce.Element](s *shape) vectorPair[T] {
	p := vectorPair[T]{in: make([]T, max(1, s.in/s.element))}
	if p.out = p.in; !s.inPlace() {
		p.out = make([]T, max(1, s.out/s.element))
	}
	return p
}

// allocate makes vectors that all ranks can reach.
func allocate[T reduce.Element](ctx context.Context, t *collectives.Team, s *shape) (vectorPair[T], func(context.Context) error, error) {
	var p vectorPair[T]
	var err error
	if p.in, err = collectives.Alloc[T](ctx, t, max(1, s.in/s.element)); err != nil {
		return p, nil, err
	}
	if s.inPlace() {
		p.out = p.in
		return p, func(ctx context.Context) error { return collectives.Release(ctx, t, p.in) }, nil
	}
	if p.out, err = collectives.Alloc[T](ctx, t, max(1, s.out/s.element)); err != nil {
		return p, nil, err
	}
	return p, func(ctx context.Context) error {
		if err := collectives.Release(ctx, t, p.in); err != nil {
			return err
		}
		return collectives.Release(ctx, t, p.out)
	}, nil
}

// call is the call on the vectors of p, as a task and as the function a program
// would use.
func (p vectorPair[T]) call(t *collectives.Team, c *collective, s *shape) (collectives.Task, func(context.Context) error) {
	opts, op, root := c.options(), c.op, c.root
	switch {
	case c.noOp:
		return p.callFunc(t, c, func(_, _, _ []T) {})
	case c.foldRate > 0:
		return p.callFunc(t, c, slowFold[T](op, c.foldRate))
	}
	switch c.what {
	case schedule.AllReduce:
		return collectives.AllReduceTask(p.in, op, opts...), func(ctx context.Context) error {
			return collectives.AllReduce(ctx, t, p.in, op, opts...)
		}
	case schedule.Reduce:
		return collectives.ReduceTask(root, p.in, op, opts...), func(ctx context.Context) error {
			_, err := collectives.Reduce(ctx, t, root, p.in, op, opts...)
			return err
		}
	case schedule.ReduceScatter:
		return collectives.ReduceScatterTask(t, p.out, p.in, op, opts...), func(ctx context.Context) error {
			return collectives.ReduceScatter(ctx, t, p.out, p.in, op, opts...)
		}
	case schedule.Broadcast:
		return collectives.BroadcastTask(root, p.in, opts...), func(ctx context.Context) error {
			_, err := collectives.Broadcast(ctx, t, root, p.in, opts...)
			return err
		}
	case schedule.Scan:
		return collectives.ScanTask(p.in, op, opts...), func(ctx context.Context) error {
			return collectives.Scan(ctx, t, p.in, op, opts...)
		}
	case schedule.ExScan:
		return collectives.ExScanTask(p.in, op, opts...), func(ctx context.Context) error {
			return collectives.ExScan(ctx, t, p.in, op, opts...)
		}
	case schedule.Barrier:
		return collectives.BarrierTask(opts...), func(ctx context.Context) error {
			return collectives.Barrier(ctx, t, opts...)
		}
	}
	return p.callMoving(t, c, s)
}

// callMoving is call of operations on blocks that are only moved.
func (p vectorPair[T]) callMoving(t *collectives.Team, c *collective, s *shape) (collectives.Task, func(context.Context) error) {
	opts, root := c.options(), c.root
	switch c.what {
	case schedule.AllGather:
		return collectives.AllGatherTask(t, p.out, p.in, opts...), func(ctx context.Context) error {
			return collectives.AllGather(ctx, t, p.out, p.in, opts...)
		}
	case schedule.Gather:
		return collectives.GatherTask(t, root, p.out, p.in, opts...), func(ctx context.Context) error {
			return collectives.Gather(ctx, t, root, p.out, p.in, opts...)
		}
	case schedule.Scatter:
		return collectives.ScatterTask(t, root, p.out, p.in, opts...), func(ctx context.Context) error {
			return collectives.Scatter(ctx, t, root, p.out, p.in, opts...)
		}
	case schedule.AllToAll:
		return collectives.AllToAllTask(t, p.out, p.in, opts...), func(ctx context.Context) error {
			return collectives.AllToAll(ctx, t, p.out, p.in, opts...)
		}
	case schedule.Exchange:
		k := rounds(s.ranks)
		return collectives.ExchangeTask(p.out, p.in, k, opts...), func(ctx context.Context) error {
			return collectives.Exchange(ctx, t, p.out, p.in, k, opts...)
		}
	}
	panic(fmt.Sprintf("gaspi-bench: %v has no call", c.what))
}

// callFunc is call of a reduction with an operation of our own.
func (p vectorPair[T]) callFunc(t *collectives.Team, c *collective, fn collectives.Func[T]) (collectives.Task, func(context.Context) error) {
	opts, root := c.options(), c.root
	switch c.what {
	case schedule.Reduce:
		return collectives.ReduceFuncTask(root, p.in, fn, false, opts...), func(ctx context.Context) error {
			_, err := collectives.ReduceFunc(ctx, t, root, p.in, fn, false, opts...)
			return err
		}
	case schedule.ReduceScatter:
		return collectives.ReduceScatterFuncTask(t, p.out, p.in, fn, false, opts...), func(ctx context.Context) error {
			return collectives.ReduceScatterFunc(ctx, t, p.out, p.in, fn, false, opts...)
		}
	}
	return collectives.AllReduceFuncTask(p.in, fn, false, opts...), func(ctx context.Context) error {
		return collectives.AllReduceFunc(ctx, t, p.in, fn, false, opts...)
	}
}

// slowFold is an operation that takes as long as a processor that folds so many bytes
// per second. It leaves the processor to other ranks meanwhile, as if each had one of its
// own, which goes with links of their own.
func slowFold[T reduce.Element](op collectives.Op, rate uint64) collectives.Func[T] {
	fold, err := reduce.KernelOf[T](op)
	if err != nil {
		panic(fmt.Sprintf("gaspi-bench: %v of a type that supports it: %v", op, err))
	}
	return func(dst, a, b []T) {
		began := time.Now()
		bytes := reduce.BytesOf(dst)
		fold(bytes, reduce.BytesOf(a), reduce.BytesOf(b))
		took := time.Duration(float64(len(bytes)) / float64(rate) * float64(time.Second))
		if err := sys.Sleep(took - time.Since(began)); err != nil {
			panic(fmt.Sprintf("gaspi-bench: %v", err)) // a system that cannot sleep
		}
	}
}

// sides is p without its type.
func (p vectorPair[T]) sides(me int, c *collective, s *shape, of func(int) T) sides {
	v := newValues(me, c, s, of)
	return sides{
		in: reduce.BytesOf(p.in), out: reduce.BytesOf(p.out),
		fill:  func(iteration int) { v.fill(p, iteration) },
		check: func(iteration int) error { return v.check(p, iteration) },
	}
}

// inPlace reports whether the result takes the place of the contribution.
func (s *shape) inPlace() bool {
	return slices.Contains([]schedule.Operation{
		schedule.AllReduce, schedule.Reduce, schedule.Broadcast, schedule.Scan, schedule.ExScan, schedule.Barrier,
	}, s.op)
}

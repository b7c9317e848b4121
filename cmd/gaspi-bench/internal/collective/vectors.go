package collective

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// An OpenedCall is a collective operation as one rank makes it, whatever its elements
// are.
type OpenedCall struct {
	Team    *collectives.Team
	Task    collectives.Task
	Once    func(ctx context.Context) error // the call itself
	Own     limit.Buffers                   // what it and its limit work on
	Release func(ctx context.Context) error
}

// An opener makes the vectors of a call of the collective operations of a team,
// and the call on them.
type opener func(ctx context.Context, t *collectives.Team, c *Spec, s *limit.CallShape) (*OpenedCall, error)

// openVectors is the opener for elements that of makes of numbers.
func openVectors[T reduce.Element](of func(int) T) opener {
	return func(ctx context.Context, t *collectives.Team, c *Spec, s *limit.CallShape) (*OpenedCall, error) {
		p, release := plainPair[T](s), func(context.Context) error { return nil }
		if !c.Plain {
			var err error
			if p, release, err = allocate[T](ctx, t, s); err != nil {
				return nil, err
			}
		}
		k := &OpenedCall{Release: release, Own: p.buffers(t.Rank(), c, s, of)}
		k.Task, k.Once = p.call(t, c, s)
		return k, nil
	}
}

// A vectorPair is the vectors of a rank.
type vectorPair[T reduce.Element] struct{ in, out []T }

// plainPair makes vectors of a rank's own.
func plainPair[T reduce.Element](s *limit.CallShape) vectorPair[T] {
	p := vectorPair[T]{in: make([]T, max(1, s.In/s.Element))}
	if p.out = p.in; !s.InPlace() {
		p.out = make([]T, max(1, s.Out/s.Element))
	}
	return p
}

// allocate makes vectors that all ranks can reach.
func allocate[T reduce.Element](ctx context.Context, t *collectives.Team, s *limit.CallShape) (vectorPair[T], func(context.Context) error, error) {
	var p vectorPair[T]
	var err error
	if p.in, err = collectives.Alloc[T](ctx, t, max(1, s.In/s.Element)); err != nil {
		return p, nil, err
	}
	if s.InPlace() {
		p.out = p.in
		return p, func(ctx context.Context) error { return collectives.Release(ctx, t, p.in) }, nil
	}
	if p.out, err = collectives.Alloc[T](ctx, t, max(1, s.Out/s.Element)); err != nil {
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
func (p vectorPair[T]) call(t *collectives.Team, c *Spec, s *limit.CallShape) (collectives.Task, func(context.Context) error) {
	opts, op, root := c.options(), c.Op, c.Root
	switch {
	case c.NoOp:
		return p.callFunc(t, c, func(_, _, _ []T) {})
	case c.FoldRate > 0:
		return p.callFunc(t, c, slowFold[T](op, c.FoldRate))
	}
	switch c.What {
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
func (p vectorPair[T]) callMoving(t *collectives.Team, c *Spec, s *limit.CallShape) (collectives.Task, func(context.Context) error) {
	opts, root := c.options(), c.Root
	switch c.What {
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
		k := limit.Partners(s.Ranks)
		return collectives.ExchangeTask(p.out, p.in, k, opts...), func(ctx context.Context) error {
			return collectives.Exchange(ctx, t, p.out, p.in, k, opts...)
		}
	}
	panic(fmt.Sprintf("gaspi-bench: %v has no call", c.What))
}

// callFunc is call of a reduction with an operation of our own.
func (p vectorPair[T]) callFunc(t *collectives.Team, c *Spec, fn collectives.Func[T]) (collectives.Task, func(context.Context) error) {
	opts, root := c.options(), c.Root
	switch c.What {
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
		if err := thread.Sleep(took - time.Since(began)); err != nil {
			panic(fmt.Sprintf("gaspi-bench: %v", err)) // a system that cannot sleep
		}
	}
}

// buffers is p without its type.
func (p vectorPair[T]) buffers(me int, c *Spec, s *limit.CallShape, of func(int) T) limit.Buffers {
	v := newValues(me, c, s, of)
	return limit.Buffers{
		In: reduce.BytesOf(p.in), Out: reduce.BytesOf(p.out),
		Fill:  func(iteration int) { v.fill(p, iteration) },
		Check: func(iteration int) error { return v.check(p, iteration) },
	}
}

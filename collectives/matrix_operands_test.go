package collectives_test

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// operands are what one rank passes to a call, but for the type of elements: buffers are memory.
type operands struct {
	team            *collectives.Team
	op              schedule.Operation
	root, rounds    int
	inPlace         bool
	dst, src        []byte
	more            [][]byte // beside dst, or src of a reducescatter
	counts          []int    // of blocks that may differ in length, or nil
	sends, receives []int    // likewise of an alltoall
	opts            []collectives.Option
}

// lengths returns how long src and dst are: of a vector of n elements or blocks of which this rank has one.
func (o *operands) lengths(n, block, total int) (in, out int) {
	switch o.op {
	case schedule.AllGather, schedule.Gather:
		return block, total
	case schedule.Scatter, schedule.ReduceScatter:
		return total, block
	case schedule.AllToAll:
		return sumOf(o.sends), sumOf(o.receives)
	case schedule.Barrier:
		return 0, 0
	}
	return n, n
}

// typed is a buffer as elements of type T, also where it lies if it is empty.
func typed[T any](mem []byte) []T {
	all := reduce.Of[T](mem[:cap(mem)])
	return all[:len(mem)*len(all)/max(1, cap(mem))]
}

// listed are vectors of type T.
func listed[T any](first []byte, more [][]byte) [][]T {
	all := [][]T{typed[T](first)}
	for _, mem := range more {
		all = append(all, typed[T](mem))
	}
	return all
}

// combine is the task of a call that combines elements by an operation of the package.
func combine[T collectives.Element](o *operands, by collectives.Op) collectives.Task {
	dst, src := typed[T](o.dst), typed[T](o.src)
	switch many := len(o.more) > 0; {
	case o.op == schedule.AllReduce && many:
		return collectives.AllReduceManyTask(listed[T](o.dst, o.more), by, o.opts...)
	case o.op == schedule.AllReduce && o.inPlace:
		return collectives.AllReduceTask(dst, by, o.opts...)
	case o.op == schedule.AllReduce:
		return collectives.AllReduceIntoTask(dst, src, by, o.opts...)
	case o.op == schedule.Reduce && o.inPlace:
		return collectives.ReduceTask(o.root, dst, by, o.opts...)
	case o.op == schedule.Reduce:
		return collectives.ReduceIntoTask(o.root, dst, src, by, o.opts...)
	case o.op == schedule.ReduceScatter && many && o.counts != nil:
		return collectives.ReduceScatterManyVTask(o.team, dst, listed[T](o.src, o.more), o.counts, by, o.opts...)
	case o.op == schedule.ReduceScatter && many:
		return collectives.ReduceScatterManyTask(o.team, dst, listed[T](o.src, o.more), by, o.opts...)
	case o.op == schedule.ReduceScatter && o.counts != nil:
		return collectives.ReduceScatterVTask(o.team, dst, src, o.counts, by, o.opts...)
	case o.op == schedule.ReduceScatter:
		return collectives.ReduceScatterTask(o.team, dst, src, by, o.opts...)
	case o.op == schedule.Scan:
		return collectives.ScanTask(dst, by, o.opts...)
	case o.op == schedule.ExScan:
		return collectives.ExScanTask(dst, by, o.opts...)
	}
	panic(o.op.String() + " combines nothing")
}

// apply is combine by a function of the program.
func apply[T any](o *operands, fn collectives.Func[T], ordered bool) collectives.Task {
	dst, src := typed[T](o.dst), typed[T](o.src)
	switch many := len(o.more) > 0; {
	case o.op == schedule.AllReduce && many:
		return collectives.AllReduceManyFuncTask(listed[T](o.dst, o.more), fn, ordered, o.opts...)
	case o.op == schedule.AllReduce:
		return collectives.AllReduceFuncTask(dst, fn, ordered, o.opts...)
	case o.op == schedule.Reduce:
		return collectives.ReduceFuncTask(o.root, dst, fn, ordered, o.opts...)
	case o.op == schedule.ReduceScatter && many:
		return collectives.ReduceScatterManyFuncTask(o.team, dst, listed[T](o.src, o.more), fn, ordered, o.opts...)
	case o.op == schedule.ReduceScatter:
		return collectives.ReduceScatterFuncTask(o.team, dst, src, fn, ordered, o.opts...)
	case o.op == schedule.Scan:
		return collectives.ScanFuncTask(dst, fn, ordered, o.opts...)
	case o.op == schedule.ExScan:
		return collectives.ExScanFuncTask(dst, fn, ordered, o.opts...)
	}
	panic(o.op.String() + " combines nothing")
}

// move is the task of a call that combines nothing.
func move[T any](ctx context.Context, o *operands) (collectives.Task, error) {
	dst, src := typed[T](o.dst), typed[T](o.src)
	var task collectives.Task
	switch uneven := o.counts != nil; {
	case o.op == schedule.Broadcast:
		task = collectives.BroadcastTask(o.root, dst, o.opts...)
	case o.op == schedule.AllGather && uneven:
		task = collectives.AllGatherVTask(o.team, dst, src, o.counts, o.opts...)
	case o.op == schedule.AllGather:
		task = collectives.AllGatherTask(o.team, dst, src, o.opts...)
	case o.op == schedule.Gather && uneven:
		task = collectives.GatherVTask(o.team, o.root, dst, src, o.counts, o.opts...)
	case o.op == schedule.Gather:
		task = collectives.GatherTask(o.team, o.root, dst, src, o.opts...)
	case o.op == schedule.Scatter && uneven:
		task = collectives.ScatterVTask(o.team, o.root, dst, src, o.counts, o.opts...)
	case o.op == schedule.Scatter:
		task = collectives.ScatterTask(o.team, o.root, dst, src, o.opts...)
	case o.op == schedule.AllToAll && uneven:
		return collectives.AllToAllVTask(ctx, o.team, dst, o.receives, src, o.sends, o.opts...)
	case o.op == schedule.AllToAll:
		task = collectives.AllToAllTask(o.team, dst, src, o.opts...)
	case o.op == schedule.Exchange:
		task = collectives.ExchangeTask(dst, src, o.rounds, o.opts...)
	default:
		task = collectives.BarrierTask(o.opts...)
	}
	return task, nil
}

//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// ops are the operations, by gaspigo_op_t.
var ops = []collectives.Op{collectives.Sum, collectives.Prod, collectives.Min, collectives.Max, collectives.And, collectives.Or, collectives.Xor}

// opOf returns an operation of C.
func opOf(op int32) (collectives.Op, error) {
	if op < 0 || int(op) >= len(ops) {
		return 0, fmt.Errorf("no operation %d (gaspigo_op_t)", op)
	}
	return ops[op], nil
}

// ofType calls one of its functions, by gaspigo_type_t. It is a table of the instances of a generic
// function.
func ofType[F any](kind int32, instances [14]F) (F, error) {
	if kind < 0 || int(kind) >= len(instances) {
		var none F
		return none, fmt.Errorf("no type %d (gaspigo_type_t)", kind)
	}
	return instances[kind], nil
}

// A maker makes the task of a call for one type of elements. It is collective and blocks where members
// tell each other the lengths of their blocks: made again after ctx has ended, it goes on.
type maker func(ctx context.Context, t *collectives.Team, c *C.gaspigo_task_t) (collectives.Task, error)

// makers are by gaspigo_type_t.
var makers = [14]maker{
	taskOf[int8], taskOf[int16], taskOf[int32], taskOf[int64], taskOf[uint8], taskOf[uint16], taskOf[uint32], taskOf[uint64],
	taskOf[collectives.Float16], taskOf[collectives.BFloat16], taskOf[float32], taskOf[float64], taskOf[complex64], taskOf[complex128],
}

// task returns the task that C describes, as a maker.
func task(ctx context.Context, t *collectives.Team, c *C.gaspigo_task_t) (collectives.Task, error) {
	if c.call == C.GASPIGO_BARRIER {
		return collectives.BarrierTask(options(c)...), nil
	}
	making, err := ofType(int32(c._type), makers)
	if err != nil {
		return collectives.Task{}, err
	}
	return making(ctx, t, c)
}

// options are what a task has beside its arguments.
func options(c *C.gaspigo_task_t) []collectives.Option {
	if c.algorithm == nil || *c.algorithm == 0 {
		return nil
	}
	return []collectives.Option{collectives.Algorithm(C.GoString(c.algorithm))}
}

// A vectors is the memory of a task.
type vectors[T any] struct {
	team            *collectives.Team
	dst, src        *C.char
	count           uint64
	receives, sends []int
	root            int
	wrong           error // the first that was found when memory was asked for
}

func vectorsOf[T any](t *collectives.Team, c *C.gaspigo_task_t) vectors[T] {
	return vectors[T]{
		team: t, dst: pointer(c.dst), src: pointer(c.src), count: uint64(c.count), root: int(c.root),
		receives: countsAt(c.receives, t.Size()), sends: countsAt(c.sends, t.Size()),
	}
}

// to and from are n elements of dst and src, none if that is NULL: not every member needs both, and the call knows.
func (v *vectors[T]) to(n uint64) []T   { return v.memory("dst", v.dst, n) }
func (v *vectors[T]) from(n uint64) []T { return v.memory("src", v.src, n) }

func (v *vectors[T]) memory(name string, p *C.char, n uint64) []T {
	if p == nil {
		return nil
	}
	mem, err := memory[T](name, p, n)
	v.wrong = cmp.Or(v.wrong, err)
	return mem
}

// inPlace is count elements of dst, which every member of the call needs.
func (v *vectors[T]) inPlace() []T {
	mem, err := memory[T]("dst", v.dst, v.count)
	v.wrong = cmp.Or(v.wrong, err)
	return mem
}

// all is count elements for each member, more than there are addresses where that wraps around.
func (v *vectors[T]) all() uint64 {
	high, low := bits.Mul64(v.count, uint64(v.team.Size()))
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// sum is how many elements counts count, more than there are addresses where that wraps around.
func sum(counts []int) uint64 {
	n := uint64(0)
	for _, c := range counts {
		n = min(n+min(uint64(c), math.MaxInt), math.MaxInt)
	}
	return n
}

// own is how many elements counts count for this member.
func (v *vectors[T]) own() uint64 { return uint64(v.receives[v.team.Rank()]) }

// counted returns what a call with blocks of different lengths lacks, or nil.
func (v *vectors[T]) counted(c *C.gaspigo_task_t) error {
	if v.receives == nil || c.call == C.GASPIGO_ALLTOALLV && v.sends == nil {
		return fmt.Errorf("call %d (gaspigo_call_t) needs counts for each member", c.call)
	}
	return nil
}

// exchangers carry out GASPIGO_ALLTOALLV, by gaspigo_type_t. Made again after ctx has ended, the call
// goes on, which a new task of it would not.
var exchangers = [14]func(ctx context.Context, t *collectives.Team, c *C.gaspigo_task_t) error{
	exchange[int8], exchange[int16], exchange[int32], exchange[int64], exchange[uint8], exchange[uint16], exchange[uint32], exchange[uint64],
	exchange[collectives.Float16], exchange[collectives.BFloat16], exchange[float32], exchange[float64], exchange[complex64], exchange[complex128],
}

// exchange is an exchanger.
func exchange[T collectives.Element](ctx context.Context, t *collectives.Team, c *C.gaspigo_task_t) error {
	v := vectorsOf[T](t, c)
	if err := v.counted(c); err != nil {
		return err
	}
	dst, src := v.to(sum(v.receives)), v.from(sum(v.sends))
	if v.wrong != nil {
		return v.wrong
	}
	return collectives.AllToAllV(ctx, t, dst, v.receives, src, v.sends, options(c)...)
}

// taskOf is a maker.
func taskOf[T collectives.Element](ctx context.Context, t *collectives.Team, c *C.gaspigo_task_t) (collectives.Task, error) {
	v := vectorsOf[T](t, c)
	making := equal[T]
	if c.call >= C.GASPIGO_ALLGATHERV {
		making = unequal[T]
	}
	made, err := making(ctx, &v, c)
	return made, cmp.Or(v.wrong, err)
}

// equal makes the task of a call with blocks of equal length.
func equal[T collectives.Element](_ context.Context, v *vectors[T], c *C.gaspigo_task_t) (collectives.Task, error) {
	t, with := v.team, options(c)
	switch c.call {
	case C.GASPIGO_BROADCAST:
		return collectives.BroadcastTask(v.root, v.inPlace(), with...), nil
	case C.GASPIGO_ALLGATHER:
		return collectives.AllGatherTask(t, v.to(v.all()), v.from(v.count), with...), nil
	case C.GASPIGO_GATHER:
		return collectives.GatherTask(t, v.root, v.to(v.all()), v.from(v.count), with...), nil
	case C.GASPIGO_SCATTER:
		return collectives.ScatterTask(t, v.root, v.to(v.count), v.from(v.all()), with...), nil
	case C.GASPIGO_ALLTOALL:
		return collectives.AllToAllTask(t, v.to(v.all()), v.from(v.all()), with...), nil
	}
	return folding(v, c)
}

// folding makes the task of a call with an operation and blocks of equal length.
func folding[T collectives.Element](v *vectors[T], c *C.gaspigo_task_t) (collectives.Task, error) {
	op, err := opOf(int32(c.op))
	if err != nil {
		return collectives.Task{}, err
	}
	with := options(c)
	switch c.call {
	case C.GASPIGO_ALLREDUCE:
		if v.src == nil || v.src == v.dst {
			return collectives.AllReduceTask(v.inPlace(), op, with...), nil
		}
		return collectives.AllReduceIntoTask(v.to(v.count), v.from(v.count), op, with...), nil
	case C.GASPIGO_REDUCE:
		if v.src == nil || v.src == v.dst {
			return collectives.ReduceTask(v.root, v.inPlace(), op, with...), nil
		}
		return collectives.ReduceIntoTask(v.root, v.to(v.count), v.from(v.count), op, with...), nil
	case C.GASPIGO_REDUCE_SCATTER:
		return collectives.ReduceScatterTask(v.team, v.to(v.count), v.from(v.all()), op, with...), nil
	case C.GASPIGO_SCAN:
		return collectives.ScanTask(v.inPlace(), op, with...), nil
	case C.GASPIGO_EXSCAN:
		return collectives.ExScanTask(v.inPlace(), op, with...), nil
	}
	return collectives.Task{}, fmt.Errorf("no call %d (gaspigo_call_t)", c.call)
}

// unequal makes the task of a call with blocks of different lengths.
func unequal[T collectives.Element](ctx context.Context, v *vectors[T], c *C.gaspigo_task_t) (collectives.Task, error) {
	if err := v.counted(c); err != nil {
		return collectives.Task{}, err
	}
	with := options(c)
	switch c.call {
	case C.GASPIGO_ALLGATHERV:
		return collectives.AllGatherVTask(v.team, v.to(sum(v.receives)), v.from(v.own()), v.receives, with...), nil
	case C.GASPIGO_GATHERV:
		return collectives.GatherVTask(v.team, v.root, v.to(sum(v.receives)), v.from(v.own()), v.receives, with...), nil
	case C.GASPIGO_SCATTERV:
		return collectives.ScatterVTask(v.team, v.root, v.to(v.own()), v.from(sum(v.receives)), v.receives, with...), nil
	case C.GASPIGO_REDUCE_SCATTERV:
		op, err := opOf(int32(c.op))
		if err != nil {
			return collectives.Task{}, err
		}
		return collectives.ReduceScatterVTask(v.team, v.to(v.own()), v.from(sum(v.receives)), v.receives, op, with...), nil
	case C.GASPIGO_ALLTOALLV:
		dst, src := v.to(sum(v.receives)), v.from(sum(v.sends))
		if v.wrong != nil {
			return collectives.Task{}, v.wrong
		}
		return collectives.AllToAllVTask(ctx, v.team, dst, v.receives, src, v.sends, with...)
	}
	return collectives.Task{}, fmt.Errorf("no call %d (gaspigo_call_t)", c.call)
}

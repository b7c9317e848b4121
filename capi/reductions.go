//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// ggo_barrier is a barrier of a group, after barrier number *passed of C if passed is not NULL.
//
//export ggo_barrier
func ggo_barrier(group uint8, passed *C.uint32_t, ms uint64) int32 {
	p, g := library.proc.Load(), library.group(group)
	if p == nil || g == nil {
		return C.GASPI_ERR_INV_GROUP
	}
	if passed != nil {
		library.barriers[group].Passed(uint32(*passed))
	}
	return code(within(ms, func(ctx context.Context) error { return p.Barrier(ctx, g) }))
}

// ggo_barrier_map returns where the signals of a group's barrier lie; false if C cannot carry it out.
//
//export ggo_barrier_map
func ggo_barrier_map(group uint8, out *C.ggo_barrier_words) bool {
	s := library
	g := s.group(group)
	if g == nil {
		return false
	}
	m, ok := g.BarrierMapping()
	if !ok || len(m.To) > len(out.to) {
		return false
	}
	if before := s.barriers[group]; before != nil {
		s.maps.retire(before)
	}
	s.barriers[group] = &m
	*out = signalled(&m)
	return true
}

// reduce is a reduction of the GASPI interface.
func reduce[T gaspi.Number](g *gaspi.Group, send, recv *C.char, n uint64, op gaspi.Op, ms uint64) int32 {
	from, to := at[T](send, n), at[T](recv, n)
	err := within(ms, func(ctx context.Context) error { return gaspi.AllReduce(ctx, g, from, to, op) })
	return codeFor(err, C.GASPI_ERR_INV_COMMSIZE, C.GASPI_ERR_INV_NUM)
}

// ggo_allreduce reduces num elements of a type of C.
//
//export ggo_allreduce
func ggo_allreduce(send, recv *C.char, num uint32, op, kind int32, group uint8, ms uint64) int32 {
	g := library.group(group)
	if g == nil {
		return C.GASPI_ERR_INV_GROUP
	}
	n, how := uint64(num), gaspi.Sum
	switch op {
	case C.GASPI_OP_MIN:
		how = gaspi.Min
	case C.GASPI_OP_MAX:
		how = gaspi.Max
	}
	switch kind {
	case C.GASPI_TYPE_INT:
		return reduce[int32](g, send, recv, n, how, ms)
	case C.GASPI_TYPE_UINT:
		return reduce[uint32](g, send, recv, n, how, ms)
	case C.GASPI_TYPE_FLOAT:
		return reduce[float32](g, send, recv, n, how, ms)
	case C.GASPI_TYPE_DOUBLE:
		return reduce[float64](g, send, recv, n, how, ms)
	case C.GASPI_TYPE_LONG:
		return reduce[int64](g, send, recv, n, how, ms)
	}
	return reduce[uint64](g, send, recv, n, how, ms)
}

// ggo_allreduce_user reduces by a function of C. Its vectors are aligned as malloc aligns.
//
//export ggo_allreduce_user
func ggo_allreduce_user(send, recv *C.char, num uint32, size uint64, fn C.gaspi_reduce_operation_t, state *C.char, group uint8, ms uint64) int32 {
	g := library.group(group)
	if g == nil {
		return C.GASPI_ERR_INV_GROUP
	}
	n := uint64(num) * size
	stride := (n + 15) &^ 15
	mem := scratch(3*stride + 16)
	if mem == nil {
		return C.GASPI_ERR_MEMALLOC
	}
	defer free(mem)
	a, b, result := bytesAt(mem, n), bytesAt(plus(mem, stride), n), bytesAt(plus(mem, 2*stride), n)
	failed := int32(C.GASPI_SUCCESS)
	combine := func(acc, in []byte) {
		copy(a, acc)
		copy(b, in)
		rc := C.ggo_call_reduce(fn, addressOf(a), addressOf(b), addressOf(result), state, C.uint32_t(num), C.uint64_t(size), C.uint64_t(ms))
		if rc != 0 {
			failed = int32(rc)
		}
		copy(acc, result)
	}
	from, to := at[byte](send, n), at[byte](recv, n)
	err := within(ms, func(ctx context.Context) error { return gaspi.AllReduceFunc(ctx, g, from, to, combine) })
	if err == nil && failed != 0 {
		return failed
	}
	return codeFor(err, C.GASPI_ERR_INV_COMMSIZE, C.GASPI_ERR_INV_NUM)
}

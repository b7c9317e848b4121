//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// A staleReduction is one of any type of elements.
type staleReduction interface {
	run(ctx context.Context, mine, out *C.char) (oldest, newest int64, err error)
	Clock() int64
	Close(ctx context.Context) error
}

// A staleOf is one of elements of type T.
type staleOf[T gaspi.Number] struct {
	*ssp.Reduction[T]
	count uint64
}

func (r *staleOf[T]) run(ctx context.Context, mine, out *C.char) (oldest, newest int64, err error) {
	from, err := memory[T]("mine", mine, r.count)
	if err != nil {
		return 0, 0, err
	}
	to, err := memory[T]("out", out, r.count)
	if err != nil {
		return 0, 0, err
	}
	result, err := r.AllReduce(ctx, from)
	if err != nil {
		return 0, 0, err
	}
	copy(to, result.Values)
	return result.Oldest, result.Newest, nil
}

// newStale makes one of type T.
func newStale[T gaspi.Number](ctx context.Context, g *gaspi.Group, count uint64, op gaspi.Op, slack int, tag gaspi.Tag) (staleReduction, error) {
	r, err := ssp.New[T](ctx, g, int(count), op, slack, ssp.WithTag(tag))
	return &staleOf[T]{r, count}, err
}

// staleMaker makes one of the type of elements that C names.
func staleMaker(kind int32) (func(context.Context, *gaspi.Group, uint64, gaspi.Op, int, gaspi.Tag) (staleReduction, error), error) {
	switch kind {
	case C.GASPIGO_INT32:
		return newStale[int32], nil
	case C.GASPIGO_INT64:
		return newStale[int64], nil
	case C.GASPIGO_UINT32:
		return newStale[uint32], nil
	case C.GASPIGO_UINT64:
		return newStale[uint64], nil
	case C.GASPIGO_FLOAT32:
		return newStale[float32], nil
	case C.GASPIGO_FLOAT64:
		return newStale[float64], nil
	}
	return nil, fmt.Errorf("a stale reduction has integers or floats of 32 or 64 bits, not type %d (gaspigo_type_t)", kind)
}

//export ggo_reduction_new
func ggo_reduction_new(group uint8, count uint64, kind, op, slack int32, tag uint32, ms uint64, out *C.gaspigo_handle_t) int32 {
	g := library.group(group)
	if g == nil {
		setError(noNumber("group", group).Error())
		return C.GASPI_ERR_INV_GROUP
	}
	how, err := opOf(op)
	if err != nil {
		return failed(err)
	}
	making, err := staleMaker(kind)
	if err != nil {
		return failed(err)
	}
	var r staleReduction
	err = during(ms, func(ctx context.Context) (err error) {
		r, err = making(ctx, g, count, how, int(slack), gaspi.Tag(tag))
		return err
	})
	return give(r, err, out)
}

//export ggo_reduction_run
func ggo_reduction_run(handle C.gaspigo_handle_t, mine, out *C.char, ms uint64, oldest, newest *C.long) int32 {
	r, err := held[staleReduction](handle)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, func(ctx context.Context) error {
		old, young, err := r.run(ctx, mine, out)
		if err == nil && oldest != nil {
			*oldest = C.long(old)
		}
		if err == nil && newest != nil {
			*newest = C.long(young)
		}
		return err
	}))
}

//export ggo_reduction_clock
func ggo_reduction_clock(handle C.gaspigo_handle_t, out *C.long) int32 {
	r, err := held[staleReduction](handle)
	if err == nil {
		*out = C.long(r.Clock())
	}
	return failed(err)
}

//export ggo_reduction_close
func ggo_reduction_close(handle C.gaspigo_handle_t, ms uint64) int32 {
	r, err := held[staleReduction](handle)
	if err != nil {
		return failed(err)
	}
	return closed(handle, within(ms, r.Close))
}

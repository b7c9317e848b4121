//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

//export ggo_store_open
func ggo_store_open(group uint8, capacity uint64, tag uint32, ms uint64, out *C.gaspigo_handle_t) int32 {
	g := library.group(group)
	if g == nil {
		setError(noNumber("group", group).Error())
		return C.GASPI_ERR_INV_GROUP
	}
	var s *hoplite.Store
	err := during(ms, func(ctx context.Context) (err error) {
		s, err = hoplite.Open(ctx, g, hoplite.Config{Capacity: int64(capacity), Tag: gaspi.Tag(tag)})
		return err
	})
	return give(s, err, out)
}

//export ggo_store_close
func ggo_store_close(handle C.gaspigo_handle_t, ms uint64) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	return closed(handle, within(ms, s.Close))
}

//export ggo_put
func ggo_put(handle C.gaspigo_handle_t, id, data *C.char, size, ms uint64) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	from, err := memory[byte]("data", data, size)
	if err != nil {
		return failed(err)
	}
	return failed(during(ms, func(ctx context.Context) error { return hoplite.Put(ctx, s, C.GoString(id), from) }))
}

//export ggo_get
func ggo_get(handle C.gaspigo_handle_t, id, data *C.char, capacity uint64, out *C.gaspi_size_t, ms uint64) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	if data == nil {
		capacity = 0
	}
	to, err := memory[byte]("data", data, capacity)
	if err != nil {
		return failed(err)
	}
	return failed(within(ms, func(ctx context.Context) error {
		n, err := hoplite.GetInto(ctx, s, C.GoString(id), to)
		if err == nil {
			*out = C.gaspi_size_t(n)
		}
		return err
	}))
}

//export ggo_view
func ggo_view(handle C.gaspigo_handle_t, id *C.char, ms uint64, out *C.gaspigo_handle_t, data **C.char, size *C.gaspi_size_t) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	var ref *hoplite.Ref[byte]
	err = within(ms, func(ctx context.Context) (err error) {
		ref, err = hoplite.GetReadOnly[byte](ctx, s, C.GoString(id))
		return err
	})
	if err == nil {
		*data, *size = addressOf(ref.Data()), C.gaspi_size_t(len(ref.Data()))
	}
	return give(ref, err, out)
}

//export ggo_view_release
func ggo_view_release(handle C.gaspigo_handle_t) int32 {
	ref, err := held[*hoplite.Ref[byte]](handle)
	if err != nil {
		return failed(err)
	}
	library.handles.remove(uint64(handle))
	ref.Release()
	return C.GASPI_SUCCESS
}

//export ggo_delete
func ggo_delete(handle C.gaspigo_handle_t, id *C.char, ms uint64) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	return failed(during(ms, func(ctx context.Context) error { return s.Delete(ctx, C.GoString(id)) }))
}

// A folder makes an object of others, for one type of elements.
type folder func(ctx context.Context, s *hoplite.Store, target string, ids []string, k int, op hoplite.Op) ([]string, error)

// folders are by gaspigo_type_t.
var folders = [14]folder{
	hoplite.ReduceFirst[int8], hoplite.ReduceFirst[int16], hoplite.ReduceFirst[int32], hoplite.ReduceFirst[int64],
	hoplite.ReduceFirst[uint8], hoplite.ReduceFirst[uint16], hoplite.ReduceFirst[uint32], hoplite.ReduceFirst[uint64],
	hoplite.ReduceFirst[hoplite.Float16], hoplite.ReduceFirst[hoplite.BFloat16], hoplite.ReduceFirst[float32], hoplite.ReduceFirst[float64],
	hoplite.ReduceFirst[complex64], hoplite.ReduceFirst[complex128],
}

//export ggo_store_reduce
func ggo_store_reduce(handle C.gaspigo_handle_t, target *C.char, ids **C.char, num, k uint64, kind, op int32, ms uint64, used *C.char) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	how, err := opOf(op)
	if err != nil {
		return failed(err)
	}
	fold, err := ofType(kind, folders)
	if err != nil {
		return failed(err)
	}
	names, err := namesAt(ids, num)
	if err != nil {
		return failed(err)
	}
	if k == 0 {
		k = num
	}
	var taken []string
	err = during(ms, func(ctx context.Context) (err error) {
		taken, err = fold(ctx, s, C.GoString(target), names, int(k), how)
		return err
	})
	if err == nil {
		marks := at[byte](used, num)
		for i := range marks {
			marks[i] = 0
			if slices.Contains(taken, names[i]) {
				marks[i] = 1
			}
		}
	}
	return failed(err)
}

//export ggo_store_wait
func ggo_store_wait(handle C.gaspigo_handle_t, ids **C.char, num, ms uint64, which *C.gaspi_size_t) int32 {
	s, err := held[*hoplite.Store](handle)
	if err != nil {
		return failed(err)
	}
	names, err := namesAt(ids, num)
	if err != nil {
		return failed(err)
	}
	if len(names) == 0 {
		return failed(fmt.Errorf("gaspigo_store_wait needs at least one object"))
	}
	return failed(within(ms, func(ctx context.Context) error {
		id, err := s.Wait(ctx, names...)
		if err == nil {
			*which = C.gaspi_size_t(slices.Index(names, id))
		}
		return err
	}))
}

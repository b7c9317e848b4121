//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// ggo_wait waits for the operations of a queue.
//
//export ggo_wait
func ggo_wait(queue uint8, ms uint64) int32 {
	q := library.queues[queue].Load()
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	return code(within(ms, q.Wait))
}

// ggo_waitsome waits for one of count notifications.
//
//export ggo_waitsome
func ggo_waitsome(id uint8, first, count uint32, out *C.gaspi_notification_id_t, ms uint64) int32 {
	seg := library.segments[id].Load()
	if seg == nil {
		return C.GASPI_ERR_INV_SEG
	}
	got, ok, err := seg.TrySome(gaspi.NotificationID(first), count)
	if err == nil && !ok {
		if ms == 0 {
			return C.GASPI_TIMEOUT
		}
		err = during(ms, func(ctx context.Context) (err error) {
			got, err = seg.WaitSome(ctx, gaspi.NotificationID(first), count)
			return err
		})
	}
	if err != nil {
		return code(err)
	}
	*out = C.gaspi_notification_id_t(got)
	return C.GASPI_SUCCESS
}

// ggo_queue_create makes a queue.
//
//export ggo_queue_create
func ggo_queue_create(out *C.gaspi_queue_id_t) int32 {
	s := library
	p := s.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	q, err := p.CreateQueue()
	if err != nil || q.Number() >= C.GGO_QUEUES {
		if err == nil {
			_ = q.Delete() // it is empty
		}
		return C.GASPI_ERR_INV_QUEUE
	}
	s.queues[q.Number()].Store(q)
	*out = C.gaspi_queue_id_t(q.Number())
	return C.GASPI_SUCCESS
}

// ggo_queue_delete deletes a queue, with its entries.
//
//export ggo_queue_delete
func ggo_queue_delete(queue uint8) int32 {
	q := library.queues[queue].Swap(nil)
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	q.Purge()
	return code(q.Delete())
}

// ggo_queue_purge gives the entries of a queue back.
//
//export ggo_queue_purge
func ggo_queue_purge(queue uint8) int32 {
	q := library.queues[queue].Load()
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	q.Purge()
	return C.GASPI_SUCCESS
}

// ggo_atomic adds v, or with swap stores v where compare is, and returns the old value.
//
//export ggo_atomic
func ggo_atomic(swap bool, id uint8, offset uint64, r uint16, compare, v uint64, out *C.gaspi_atomic_value_t, ms uint64) int32 {
	p := library.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	if ms == 0 {
		ms = block // an atomic that is on its way is carried out
	}
	return code(during(ms, func(ctx context.Context) (err error) {
		var old uint64
		if swap {
			old, err = p.CompareSwap(ctx, remote(r, id, offset), compare, v)
		} else {
			old, err = p.FetchAdd(ctx, remote(r, id, offset), v)
		}
		if err == nil {
			*out = C.gaspi_atomic_value_t(old)
		}
		return err
	}))
}

//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// span returns a range of a segment of this rank, and the code if there is none.
func (s *rankState) span(id uint8, offset, size uint64) (gaspi.Span, int32) {
	seg := s.segments[id].Load()
	if seg == nil {
		return gaspi.Span{}, C.GASPI_ERR_INV_SEG
	}
	span, err := seg.Span(offset, size)
	if err != nil {
		return span, codeFor(err, C.GASPI_ERR_INV_REM_OFF, C.GASPI_ERR_INV_LOC_OFF)
	}
	return span, C.GASPI_SUCCESS
}

// remote is an address as C gives it.
func remote(r uint16, id uint8, offset uint64) gaspi.Remote {
	return gaspi.Remote{Rank: gaspi.Rank(r), Segment: gaspi.SegmentID(id), Offset: offset}
}

// flag is a notification as C gives it.
func flag(id, value uint32) gaspi.Notification {
	return gaspi.Notification{ID: gaspi.NotificationID(id), Value: gaspi.Value(value)}
}

// ggo_transfer posts a write, a read, or one with a notification. value 0 is none.
//
//export ggo_transfer
func ggo_transfer(read bool, local uint8, from uint64, r uint16, id uint8, to, size uint64, nid, value uint32, queue uint8) int32 {
	s := library
	q := s.queues[queue].Load()
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	span, wrong := s.span(local, from, size)
	if wrong != 0 {
		return wrong
	}
	there := remote(r, id, to)
	switch {
	case read && value != 0:
		return code(q.ReadNotify(span, there, flag(nid, value)))
	case read:
		return code(q.Read(span, there))
	case value != 0:
		return code(q.WriteNotify(there, span, flag(nid, value)))
	}
	return code(q.Write(there, span))
}

// ggo_notify posts a notification.
//
//export ggo_notify
func ggo_notify(id uint8, r uint16, nid, value uint32, queue uint8) int32 {
	q := library.queues[queue].Load()
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	return code(q.Notify(remote(r, id, 0), flag(nid, value)))
}

// ggo_list posts a list of writes or reads, with a notification in segment sn unless value is 0.
//
//export ggo_list
func ggo_list(read bool, num uint32, sl, ol *C.char, r uint16, sr, or, sizes *C.char, sn uint8, nid, value uint32, queue uint8) int32 {
	s := library
	q := s.queues[queue].Load()
	if q == nil {
		return C.GASPI_ERR_INV_QUEUE
	}
	n := uint64(num)
	locals, froms, remotes, tos, lengths := at[uint8](sl, n), at[uint64](ol, n), at[uint8](sr, n), at[uint64](or, n), at[uint64](sizes, n)
	list := make([]gaspi.Transfer, n)
	for i := range list {
		span, wrong := s.span(locals[i], froms[i], lengths[i])
		if wrong != 0 {
			return wrong
		}
		list[i] = gaspi.Transfer{Local: span, Remote: remote(r, remotes[i], tos[i])}
	}
	switch {
	case read && value != 0:
		seg := s.segments[sn].Load()
		if seg == nil {
			return C.GASPI_ERR_INV_SEG
		}
		return code(q.ReadListNotify(list, seg, flag(nid, value)))
	case read:
		return code(q.ReadList(list))
	case value != 0:
		return code(q.WriteListNotify(list, remote(r, sn, 0), flag(nid, value)))
	}
	return code(q.WriteList(list))
}

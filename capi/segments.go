//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// made stores a segment that was made, and returns the code of the call.
func (s *rankState) made(id uint8, seg *gaspi.Segment, err error) int32 {
	if err != nil {
		return codeFor(err, C.GASPI_ERR_ACTIVE_COLL, C.GASPI_ERR_INV_SEG)
	}
	s.segments[id].Store(seg)
	return C.GASPI_SUCCESS
}

// given is the memory of a segment that C gives, nil if it gives none.
func given(mem *C.char, size uint64) ([]byte, error) {
	if mem == nil {
		return nil, nil
	}
	return memory[byte]("mem", mem, size)
}

// ggo_segment_create makes a segment with the members of a group, of memory of C if mem is not
// NULL.
//
//export ggo_segment_create
func ggo_segment_create(id uint8, size uint64, group uint8, ms uint64, mem *C.char) int32 {
	s := library
	p, g := s.proc.Load(), s.group(group)
	switch {
	case p == nil:
		return C.GASPI_ERR_NOINIT
	case g == nil:
		return C.GASPI_ERR_INV_GROUP
	case s.segments[id].Load() != nil:
		return C.GASPI_ERR_INV_SEG
	}
	own, err := given(mem, size)
	if err != nil {
		return C.GASPI_ERR_INV_SEGSIZE
	}
	var seg *gaspi.Segment
	err = within(ms, func(ctx context.Context) (err error) {
		if mem == nil {
			seg, err = p.CreateSegment(ctx, gaspi.SegmentID(id), size, gaspi.Over(g))
		} else {
			seg, err = p.UseSegment(ctx, gaspi.SegmentID(id), own, gaspi.Over(g))
		}
		return err
	})
	if err == nil {
		err = seg.Register(p.Rank()) // also where the group is without this rank's own use
	}
	return s.made(id, seg, err)
}

// ggo_segment_alloc makes a segment of this rank alone, which it may use itself at once.
//
//export ggo_segment_alloc
func ggo_segment_alloc(id uint8, size uint64, mem *C.char) int32 {
	s := library
	p := s.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	own, err := given(mem, size)
	if err != nil {
		return C.GASPI_ERR_INV_SEGSIZE
	}
	var seg *gaspi.Segment
	if mem == nil {
		seg, err = p.AllocSegment(gaspi.SegmentID(id), size)
	} else {
		seg, err = p.BindSegment(gaspi.SegmentID(id), own)
	}
	if err == nil {
		err = seg.Register(p.Rank())
	}
	return s.made(id, seg, err)
}

// ggo_segment_register lets a rank use a segment.
//
//export ggo_segment_register
func ggo_segment_register(id uint8, r uint16) int32 {
	seg := library.segments[id].Load()
	if seg == nil {
		return C.GASPI_ERR_INV_SEG
	}
	return code(seg.Register(gaspi.Rank(r)))
}

// ggo_segment_delete deletes a segment.
//
//export ggo_segment_delete
func ggo_segment_delete(id uint8) int32 {
	s := library
	seg := s.segments[id].Swap(nil)
	if seg == nil {
		return C.GASPI_ERR_INV_SEG
	}
	s.maps.retire(seg)
	return code(seg.Delete())
}

// ggo_segment_size is the size of a segment of any rank, in bytes.
//
//export ggo_segment_size
func ggo_segment_size(id uint8, r uint16, out *C.gaspi_size_t) int32 {
	p := library.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	n, _, err := p.RemoteSize(gaspi.Rank(r), gaspi.SegmentID(id))
	if err == nil {
		*out = C.gaspi_size_t(n)
	}
	return code(err)
}

package memory

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

func TestHeap(t *testing.T) {
	ranktest.Local(t, 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		var segs [3]*gaspi.Segment
		for i := range segs {
			var err error
			if segs[i], err = p.CreateSegment(ctx, gaspi.AnySegment, 64); err != nil {
				return err
			}
		}
		var h Heap
		plain := make([]byte, 8)
		if !h.Empty() || h.Holds(plain, nil) || h.Locate(plain) != (Location{}) || h.Segment(Location{}) != nil || h.Owns(Location{}) {
			return fmt.Errorf("an empty heap holds something: %v", h)
		}
		h.Add(segs[0], true)
		h.Add(segs[1], false)
		at := Location{2, 8}
		for _, mem := range [][]byte{segs[1].Bytes()[8:16], segs[1].Bytes()[8:8]} {
			if got := h.Locate(mem); got != at {
				return fmt.Errorf("%d bytes are at %v, want %v", len(mem), got, at)
			}
		}
		if h.Empty() || !h.Holds(plain, segs[1].Bytes()) || h.Holds(plain, plain) || h.Segment(at) != segs[1] {
			return fmt.Errorf("the heap does not hold its segments: %v", h)
		}
		if !h.Owns(Location{1, 0}) || h.Owns(Location{1, 8}) || h.Owns(Location{2, 0}) {
			return fmt.Errorf("the heap owns what it does not: %v", h)
		}
		shared := h.Shared()
		if err := h.Delete(1); err != nil {
			return err
		}
		h.Add(segs[2], true)
		if got := h.Locate(segs[2].Bytes()); got != (Location{1, 0}) {
			return fmt.Errorf("the segment is at %v, want the free place", got)
		}
		if err := h.Close(); err != nil {
			return err
		}
		if err := shared.Close(); err != nil { // owns none
			return err
		}
		return segs[1].Delete()
	})
}

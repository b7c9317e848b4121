package rdma

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/segment"
)

// regions are the segments whose memory is registered, whole and once each: exposed
// ones, and sources and destinations of transfers where the provider wants those
// registered too. There is no other memory, since every Span lies in a segment, so
// neither copies through buffers nor a cache of address ranges are needed. All is
// guarded by Transport.mu.
type memoryRegions struct {
	fab fabric
	all map[*segment.Segment]*memoryRegion
}

// ofLocked is the region of s, registered if need be.
func (g *memoryRegions) ofLocked(s *segment.Segment) (*memoryRegion, error) {
	if r := g.all[s]; r != nil {
		return r, nil
	}
	g.sweepLocked()
	r, err := g.fab.register(s.All().Bytes())
	if err != nil {
		return nil, fmt.Errorf("cannot register %d bytes with the network: %w", s.Size(), err)
	}
	g.all[s] = r
	return r, nil
}

// sweepLocked drops regions of segments that were closed. Regions that peers may reach are
// withdrawn before.
func (g *memoryRegions) sweepLocked() {
	for s := range g.all {
		if s.Closed() {
			g.forgetLocked(s)
		}
	}
}

// forgetLocked ends the region of s once nothing uses it.
func (g *memoryRegions) forgetLocked(s *segment.Segment) {
	if r := g.all[s]; r != nil {
		delete(g.all, s)
		r.dropped = true
		g.settleLocked(r)
	}
}

// leaveLocked records that one use of r has ended.
func (g *memoryRegions) leaveLocked(r *memoryRegion) {
	r.users--
	g.settleLocked(r)
}

func (g *memoryRegions) settleLocked(r *memoryRegion) {
	if r.dropped && r.users == 0 {
		g.fab.unregister(r)
	}
}

func (g *memoryRegions) init(fab fabric) {
	g.fab = fab
	g.all = make(map[*segment.Segment]*memoryRegion)
}

// closeLocked ends all regions.
func (g *memoryRegions) closeLocked() {
	for s, r := range g.all {
		delete(g.all, s)
		g.fab.unregister(r)
	}
}

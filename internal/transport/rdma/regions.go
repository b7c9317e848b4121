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
type regions struct {
	fab fabric
	all map[*segment.Segment]*region
}

// ofLocked is the region of s, registered if need be.
func (g *regions) ofLocked(s *segment.Segment) (*region, error) {
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

// sweepLocked drops regions of segments that were closed. What peers may reach is
// withdrawn before.
func (g *regions) sweepLocked() {
	for s := range g.all {
		if s.Closed() {
			g.forgetLocked(s)
		}
	}
}

// forgetLocked ends the region of s once nothing uses it.
func (g *regions) forgetLocked(s *segment.Segment) {
	if r := g.all[s]; r != nil {
		delete(g.all, s)
		r.dropped = true
		g.settleLocked(r)
	}
}

// leaveLocked says that one use of r has ended.
func (g *regions) leaveLocked(r *region) {
	r.users--
	g.settleLocked(r)
}

func (g *regions) settleLocked(r *region) {
	if r.dropped && r.users == 0 {
		g.fab.unregister(r)
	}
}

func (g *regions) init(fab fabric) {
	g.fab = fab
	g.all = make(map[*segment.Segment]*region)
}

// closeLocked ends all regions.
func (g *regions) closeLocked() {
	for s, r := range g.all {
		delete(g.all, s)
		g.fab.unregister(r)
	}
}

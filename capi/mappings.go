//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// retired is how many mappings and segments that are used no more stay mapped. A thread of C may
// still be in a copy to one.
const retired = 256

// mappings keeps the memory that C has addresses of.
type mappings struct {
	mu   sync.Mutex
	used map[mapped]gaspi.Mapping // guarded by mu
	old  []any                    // guarded by mu; a ring
	next int                      // guarded by mu
}

// A mapped names a segment of a rank.
type mapped struct {
	rank    gaspi.Rank
	segment gaspi.SegmentID
}

// keep keeps a mapping until retired others have taken its place.
func (m *mappings) keep(at mapped, mapping gaspi.Mapping) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[mapped]gaspi.Mapping{}
	}
	if before, ok := m.used[at]; ok {
		m.retireLocked(before)
	}
	m.used[at] = mapping
}

// retire keeps what C may still have an address of.
func (m *mappings) retire(what any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retireLocked(what)
}

func (m *mappings) retireLocked(what any) {
	if m.old == nil {
		m.old = make([]any, retired)
	}
	m.old[m.next] = what
	m.next = (m.next + 1) % retired
}

// ggo_map returns where a segment of a rank lies in the memory of this process; false if it cannot
// be addressed.
//
//export ggo_map
func ggo_map(r uint16, id uint8, out *C.ggo_mapping) bool {
	s := library
	p := s.proc.Load()
	if p == nil {
		return false
	}
	m, ok := p.Mapping(gaspi.Rank(r), gaspi.SegmentID(id))
	if !ok {
		return false
	}
	s.maps.keep(mapped{gaspi.Rank(r), gaspi.SegmentID(id)}, m)
	*out = addressed(m)
	return true
}

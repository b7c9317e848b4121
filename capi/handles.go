//go:build capi && cgo && linux

package main

import "sync"

// handles are the objects that C holds, by their numbers. A handle keeps its object, and the
// memory of it, until it is closed.
type handles struct {
	mu   sync.Mutex
	last uint64           // guarded by mu
	held map[uint64]any   // guarded by mu
	left []map[uint64]any // guarded by mu; those of jobs that have ended
}

// add returns a handle of an object, which is not 0.
func (h *handles) add(object any) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[uint64]any{}
	}
	h.last++
	h.held[h.last] = object
	return h.last
}

// get returns the object of a handle, nil if there is none.
func (h *handles) get(handle uint64) any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[handle]
}

// remove forgets a handle.
func (h *handles) remove(handle uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.held, handle)
}

// abandon ends all handles. Their memory stays mapped: programs may still look at it.
func (h *handles) abandon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = append(h.left, h.held)
	h.held = nil
}

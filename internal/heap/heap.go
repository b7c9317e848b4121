// Package heap is a binary heap of elements that know their order. Unlike container/heap it
// does not allocate for an element.
package heap

import "slices"

// A Heap has the element that is before all others at index 0. The zero value is empty. Elements
// that are in a heap do not change their order, but for what DeleteFunc says.
type Heap[T interface{ Before(T) bool }] []T

// Push adds an element.
func (h *Heap[T]) Push(e T) {
	*h = append(*h, e)
	all := *h
	i := len(all) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.Before(all[up]) {
			break
		}
		all[i] = all[up]
		i = up
	}
	all[i] = e
}

// Pop takes the first element out; there is one.
func (h *Heap[T]) Pop() T {
	all := *h
	first, last := all[0], len(all)-1
	e := all[last]
	clear(all[last:])
	*h = all[:last]
	if last > 0 {
		h.sink(0, e)
	}
	return first
}

// sink puts e at index i or below it.
func (h Heap[T]) sink(i int, e T) {
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].Before(h[down]) {
			down++
		}
		if !h[down].Before(e) {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = e
}

// DeleteFunc deletes the elements for which del returns true. del may change the order of the
// elements.
func (h *Heap[T]) DeleteFunc(del func(T) bool) {
	*h = slices.DeleteFunc(*h, del)
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.sink(i, (*h)[i])
	}
}

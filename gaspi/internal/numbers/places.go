// Package numbers keeps things by number: segments, groups and queues of a rank. A [Draw] finds a
// number that is free at all members of a group. It decides alone, from votes that others carry.
package numbers

import (
	"errors"
	"sync"
)

// Why a number cannot be had.
var (
	ErrRange    = errors.New("there is no such number")
	ErrTaken    = errors.New("the number is taken")
	ErrReserved = errors.New("the number is reserved by a draw")
)

// A Places holds things of one kind by number. Its methods may be called by any goroutine.
type Places[T any] struct {
	mu       sync.Mutex
	things   []*T         // guarded by mu; index is the number, nil where there is none
	reserved map[int]bool // guarded by mu
}

// NewPlaces returns places for the numbers below n, all free.
func NewPlaces[T any](n int) *Places[T] {
	return &Places[T]{things: make([]*T, n), reserved: make(map[int]bool)}
}

// Len is how many numbers there are.
func (t *Places[T]) Len() int { return len(t.things) }

// Get returns the thing with number i, or nil.
func (t *Places[T]) Get(i int) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i < 0 || i >= len(t.things) {
		return nil
	}
	return t.things[i]
}

// All returns what there is, in the order of numbers. The caller owns the slice.
func (t *Places[T]) All() []*T {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*T
	for _, thing := range t.things {
		if thing != nil {
			all = append(all, thing)
		}
	}
	return all
}

// Free returns the lowest number from first on that nothing has and no draw has reserved, or -1.
func (t *Places[T]) Free(first int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.freeLocked(first)
}

func (t *Places[T]) freeLocked(first int) int {
	for i := max(first, 0); i < len(t.things); i++ {
		if t.things[i] == nil && !t.reserved[i] {
			return i
		}
	}
	return -1
}

// Add gives the lowest free number to what make makes of it, or returns nil if none is free. make does not use
// the Places.
func (t *Places[T]) Add(make func(i int) *T) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.freeLocked(0)
	if i < 0 {
		return nil
	}
	t.things[i] = make(i)
	return t.things[i]
}

// Fill gives the lowest n numbers, all of which are free, to what make makes of each. make does not
// use the Places.
func (t *Places[T]) Fill(n int, make func(i int) *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range n {
		t.things[i] = make(i)
	}
}

// Put gives number i to what make makes, or returns ErrRange, ErrTaken, or, unless the caller has
// drawn the number, ErrReserved. make does not use the Places; its error is returned as it is.
func (t *Places[T]) Put(i int, drawn bool, make func() (*T, error)) (*T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case i < 0 || i >= len(t.things):
		return nil, ErrRange
	case t.things[i] != nil:
		return nil, ErrTaken
	case t.reserved[i] && !drawn:
		return nil, ErrReserved
	}
	thing, err := make()
	if err != nil {
		return nil, err
	}
	t.things[i] = thing
	return thing, nil
}

// Remove frees number i. A draw that has reserved it keeps it.
func (t *Places[T]) Remove(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.things[i] = nil
}

// Reserve implements Pool.
func (t *Places[T]) Reserve(limit int, hop func() int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := limit; i >= 0; {
		switch {
		case t.things[i] != nil:
			i--
		case t.reserved[i]:
			i -= hop()
		default:
			t.reserved[i] = true
			return i
		}
	}
	return -1
}

// Release implements Pool. A thing that has got the number keeps it.
func (t *Places[T]) Release(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.reserved, i)
}

// Package turns orders the collective calls that package gaspi itself makes over a group:
// creations of segments, and Dup. Several goroutines of a rank may make them at a
// time, in another order at each member. The first member decides: it begins one
// call at a time and sends its key down a tree; at the others, the call with that
// key goes on, and the rest wait. The key of the next call is sent when the one
// before has ended, which takes all members, so no key is overwritten.
//
// A goroutine that waits for its turn also forwards keys that are not its own. The package
// neither waits nor sends: package gaspi does.
package turns

import "sync"

// A CallKey tells calls over one group apart, alike on all members. It is not 0.
type CallKey uint32

// A Line carries keys from a member to its children in the tree. No method blocks.
type Line interface {
	// Arrived reports whether a key has come from the parent.
	Arrived() bool
	// Take returns the key that has come and takes it off the line, or returns 0.
	Take() CallKey
	// Forward sends a key to a child, from 0 on.
	Forward(child int, key CallKey) error
}

// Turns are the turns of one member. Its methods may be called by any goroutine.
type Turns struct {
	line     Line
	first    bool
	children int

	// Work is how far the call has come whose turn it is, for the caller alone. Leave clears it.
	Work any

	mu   sync.Mutex
	key  CallKey // guarded by mu; of the call under way, 0 if none is known here
	told int     // guarded by mu; children that the key was forwarded to
	what string  // guarded by mu; the call under way if it has begun here, else empty
	held bool    // guarded by mu; a goroutine is in it; false if what is set: it ended early
}

// New returns the turns of a member with so many children, of the first member if first is set.
func New(first bool, children int, line Line) *Turns {
	return &Turns{line: line, first: first, children: children}
}

// Ready reports whether Advance has something to do for the call with a key.
func (t *Turns) Ready(key CallKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.key == 0:
		return t.first || t.line.Arrived()
	case t.told < t.children:
		return true
	}
	return t.key == key && !t.held
}

// Advance takes a key off the line, or decides on one, forwards it, and reports whether it is the
// turn of the call with a key, which what names. The caller then has the turn until Leave. The
// error is that of telling a child.
func (t *Turns) Advance(key CallKey, what string) (mine bool, child int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.key == 0 {
		t.key, t.told = key, 0
		if !t.first {
			t.key = t.line.Take()
		}
	}
	if t.key == 0 {
		return false, 0, nil
	}
	for ; t.told < t.children; t.told++ {
		if err := t.line.Forward(t.told, t.key); err != nil {
			return false, t.told, err
		}
	}
	if t.key != key || t.held {
		return false, 0, nil
	}
	t.held, t.what = true, what
	return true, 0, nil
}

// Leave gives the turn to the next call, unless this one is to be finished first.
func (t *Turns) Leave(done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = false
	if done {
		t.key, t.what, t.Work = 0, "", nil
	}
}

// Begun reports whether a call has begun here and not ended.
func (t *Turns) Begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.what != ""
}

// Abandon returns the work of a call that ended early and that nobody goes on with, or nil.
func (t *Turns) Abandon() any {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		return nil
	}
	work := t.Work
	t.Work = nil
	return work
}

// UnderWay returns the key of the call under way, 0 if none is known here, the call if it has begun
// here, and whether a goroutine is in it.
func (t *Turns) UnderWay() (key CallKey, what string, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.key, t.what, t.held
}

package notify

import (
	"context"
	"slices"
	"sync"
)

// alarms wake sleepers when their contexts end. One stays set between waits with the
// same context, so that a program which waits again and again with it does not allocate
// each time it sleeps. There are at most as many as contexts slept at a time. The zero
// alarms are ready.
type alarms struct {
	mu     sync.Mutex
	set    []alarm // guarded by mu
	closed bool    // guarded by mu
}

// An alarm is for contexts that end by the same channel.
type alarm struct {
	done     <-chan struct{}
	stop     func() bool // unsets it
	sleepers int
}

// begin makes the end of ctx, which can end, wake the sleepers of b until end is called.
func (a *alarms) begin(ctx context.Context, b *Array) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(ctx.Done())
	if i < 0 {
		i = slices.IndexFunc(a.set, func(x alarm) bool { return x.sleepers == 0 })
		if i < 0 {
			i, a.set = len(a.set), append(a.set, alarm{})
		} else {
			a.set[i].stop()
		}
		a.set[i] = alarm{done: ctx.Done(), stop: context.AfterFunc(ctx, func() { a.ring(b) })}
	}
	a.set[i].sleepers++
}

// end ends what begin began.
func (a *alarms) end(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.find(ctx.Done())
	if a.set[i].sleepers--; a.closed && a.set[i].sleepers == 0 {
		a.set[i].stop()
	}
}

// ring wakes the sleepers of b, unless b is closed: its memory may be gone then, and its sleepers
// are awake. The context of an alarm may have ended just before.
func (a *alarms) ring(b *Array) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		b.Wake()
	}
}

func (a *alarms) find(done <-chan struct{}) int {
	for i := range a.set {
		if a.set[i].done == done {
			return i
		}
	}
	return -1
}

// close unsets all alarms without sleepers, and the others as soon as they have none, so
// that a context which lives on does not keep what it would wake.
func (a *alarms) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, x := range a.set {
		if x.sleepers == 0 {
			x.stop()
		}
	}
}

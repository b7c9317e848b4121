package notify_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

// An eventLoop carries out events where others sleep. It is for programs of one goroutine.
type eventLoop struct{ events []func() }

// Park carries out the next event.
func (l *eventLoop) Park(*atomic.Uint32, uint32, time.Duration) {
	next := l.events[0]
	l.events = l.events[1:]
	next()
}

// Wake has nobody to wake: after each event the loop returns.
func (l *eventLoop) Wake(*atomic.Uint32) {}

// Waits of a program with an event loop carry out events until one of them posts.
func ExampleParker() {
	loop := &eventLoop{}
	policy := &notify.WaitPolicy{YieldOnce: runtime.Gosched, Sleep: loop}
	array := notify.NewArray(make([]byte, notify.Bytes(1)), 1, policy)
	loop.events = []func(){
		func() { fmt.Println("an event") },
		func() { array.Set(0, 5) },
	}
	_, err := array.Wait(context.Background(), notify.Some(0, 1), nil, nil)
	fmt.Println(array.Load(0), err)
	// Output:
	// an event
	// 5 <nil>
}

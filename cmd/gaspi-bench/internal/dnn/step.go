package dnn

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A starter begins the reduction of a message. One goroutine at a time calls it and
// what it returns.
type starter func(ctx context.Context, message int) (waiter, error)

// A waiter is a reduction under way. Wait may be called again when ctx ended
// first.
type waiter interface {
	Wait(ctx context.Context) error
}

// step does a step of a trace on one rank. compute passes the time of a layer.
func step(ctx context.Context, t *Trace, mode Mode, compute func(time.Duration), start starter) (Times, error) {
	begin := time.Now()
	lane := &messageQueue{start: start, several: mode == Nonblocking, wake: make(chan struct{}, 1)}
	finish := func() error { return nil }
	if mode == Threaded || mode == Nonblocking {
		var loop sync.WaitGroup
		var err error
		loop.Go(func() { err = lane.loop(ctx) })
		finish = func() error {
			lane.end()
			loop.Wait()
			return err
		}
	}
	compute(t.Forward)
	for _, s := range t.Backward {
		compute(s.Compute)
		for _, message := range s.Ready {
			switch mode {
			case Blocking:
				if err := lane.reduce(ctx, message); err != nil {
					return Times{}, err
				}
			case Threaded, Nonblocking:
				lane.offer(message)
			}
		}
	}
	if err := finish(); err != nil {
		return Times{}, err
	}
	return Times{Step: time.Since(begin), Comm: lane.busy}, nil
}

// A messageQueue is the communication of a rank: messages come in and are reduced in their
// order, one at a time or several.
type messageQueue struct {
	start   starter
	several bool
	busy    time.Duration // with at least one reduction under way
	since   time.Time     // when the present one of these times began
	flying  []waiter      // in the order of their start

	mu        sync.Mutex
	offered   []int              // guarded by mu
	ended     bool               // guarded by mu: nothing more comes
	interrupt context.CancelFunc // guarded by mu: ends the wait of loop, if it is in one
	wake      chan struct{}      // that there may be something to do
}

// offer hands a message to loop.
func (l *messageQueue) offer(message int) {
	l.mu.Lock()
	l.offered = append(l.offered, message)
	l.mu.Unlock()
	l.nudge()
}

// end says that no message follows.
func (l *messageQueue) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.nudge()
}

func (l *messageQueue) nudge() {
	l.mu.Lock()
	if l.interrupt != nil && l.several {
		l.interrupt()
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next is a message that was offered and not yet taken; ended says that there is
// none and none will come.
func (l *messageQueue) next() (message int, ok, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.offered) == 0 {
		return 0, false, l.ended
	}
	message, l.offered = l.offered[0], l.offered[1:]
	return message, true, false
}

// loop reduces what is offered until that has ended and all is reduced.
func (l *messageQueue) loop(ctx context.Context) error {
	for {
		message, ok, ended := l.next()
		var err error
		switch {
		case ok && l.several:
			err = l.launch(ctx, message)
		case ok:
			err = l.reduce(ctx, message)
		case len(l.flying) > 0:
			err = l.land(ctx)
		case ended:
			return nil
		default:
			select {
			case <-l.wake:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		if err != nil {
			return err
		}
	}
}

// reduce does all of one reduction.
func (l *messageQueue) reduce(ctx context.Context, message int) error {
	begin := time.Now()
	w, err := l.start(ctx, message)
	if err == nil {
		err = w.Wait(ctx)
	}
	l.busy += time.Since(begin)
	return err
}

// launch starts a reduction.
func (l *messageQueue) launch(ctx context.Context, message int) error {
	if len(l.flying) == 0 {
		l.since = time.Now()
	}
	w, err := l.start(ctx, message)
	l.flying = append(l.flying, w)
	return err
}

// land waits for the oldest reduction, or until there is something to start.
func (l *messageQueue) land(ctx context.Context) error {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	idle := len(l.offered) == 0
	l.interrupt = cancel
	l.mu.Unlock()
	if !idle {
		return nil
	}
	err := l.flying[0].Wait(until)
	if err != nil && errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if l.flying = l.flying[1:]; len(l.flying) == 0 {
		l.busy += time.Since(l.since)
	}
	return nil
}

package dnn

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
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
	q := &messageQueue{start: start, several: mode == Nonblocking, ready: make(chan int, len(t.Messages))}
	ended := make(chan error, 1)
	switch mode {
	case Threaded, Nonblocking:
		go func() { ended <- q.serve(ctx) }()
	default:
		ended <- nil
	}
	err := t.walk(compute, func(message int) error {
		switch mode {
		case Silent:
			return nil
		case Blocking:
			return q.reduce(ctx, message)
		}
		q.offer(message)
		return nil
	})
	close(q.ready)
	if err = cmp.Or(err, <-ended); err != nil {
		return Times{}, err
	}
	return Times{Step: time.Since(begin), Comm: q.busy}, nil
}

// walk does the passes of a step, and tells of each message that is ready.
func (t *Trace) walk(compute func(time.Duration), ready func(message int) error) error {
	compute(t.Forward)
	for _, s := range t.Backward {
		compute(s.Compute)
		for _, message := range s.Ready {
			if err := ready(message); err != nil {
				return err
			}
		}
	}
	return nil
}

// A messageQueue is the communication of a rank: messages come in and are reduced in their
// order, one at a time or several.
type messageQueue struct {
	start     starter
	several   bool
	ready     chan int                           // messages, with room for all; closed after the last
	interrupt atomic.Pointer[context.CancelFunc] // ends the wait of serve, if it is in one

	busy   time.Duration // with at least one reduction under way, before since
	since  time.Time     // when the first of those under way began
	flying []waiter      // in the order of their start
}

// offer hands a message to serve.
func (q *messageQueue) offer(message int) {
	q.ready <- message
	if stop := q.interrupt.Load(); stop != nil {
		(*stop)()
	}
}

// serve reduces what is offered until no more comes and all is reduced.
func (q *messageQueue) serve(ctx context.Context) (err error) {
	for err == nil {
		if len(q.flying) > 0 && len(q.ready) == 0 {
			err = q.land(ctx)
			continue
		}
		select {
		case message, ok := <-q.ready:
			switch {
			case !ok:
				return nil
			case q.several:
				err = q.launch(ctx, message)
			default:
				err = q.reduce(ctx, message)
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return err
}

// reduce does all of one reduction.
func (q *messageQueue) reduce(ctx context.Context, message int) error {
	if err := q.launch(ctx, message); err != nil {
		return err
	}
	return q.end(ctx)
}

// launch starts a reduction.
func (q *messageQueue) launch(ctx context.Context, message int) error {
	if len(q.flying) == 0 {
		q.since = time.Now()
	}
	w, err := q.start(ctx, message)
	q.flying = append(q.flying, w)
	return err
}

// land waits for the oldest reduction, or until there is something to start.
func (q *messageQueue) land(ctx context.Context) error {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	q.interrupt.Store(&cancel)
	if len(q.ready) > 0 { // whose offer may have come before
		return nil
	}
	err := q.end(until)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil {
		return nil
	}
	return err
}

// end waits for the oldest reduction.
func (q *messageQueue) end(ctx context.Context) error {
	if err := q.flying[0].Wait(ctx); err != nil {
		return err
	}
	if q.flying = q.flying[1:]; len(q.flying) == 0 {
		q.busy += time.Since(q.since)
	}
	return nil
}

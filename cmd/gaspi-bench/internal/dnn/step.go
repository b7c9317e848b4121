package dnn

import (
	"cmp"
	"context"
	"time"
)

// A starter begins the reduction of a message, which goes on by itself. One goroutine at a time calls
// it and what it returns.
type starter func(ctx context.Context, message int) (reduction, error)

// A reduction is under way since a call of a starter.
type reduction interface {
	// Done returns a channel that is closed when the reduction has ended.
	Done() <-chan struct{}
	// Wait blocks until then, and returns the error of the reduction.
	Wait(ctx context.Context) error
}

// step does a step of a trace on one rank. compute passes the time of a layer.
func step(ctx context.Context, t *Trace, mode Mode, compute func(time.Duration), start starter) (Times, error) {
	begin := time.Now()
	inline, beside := &reductions{start: start}, &reductions{start: start}
	ready, ended := make(chan int, len(t.Messages)), make(chan error, 1)
	go func() { ended <- beside.serve(ctx, ready) }()
	err := t.walk(compute, func(message int) error {
		switch mode {
		case Blocking:
			if err := inline.begin(ctx, message); err != nil {
				return err
			}
			return inline.end(ctx)
		case Threaded, Nonblocking:
			ready <- message
		}
		return nil
	})
	close(ready)
	if err = cmp.Or(err, <-ended); err != nil {
		return Times{}, err
	}
	return Times{Step: time.Since(begin), Comm: inline.busy + beside.busy}, nil
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

// A reductions holds what a step on one rank has begun.
type reductions struct {
	start  starter
	flying []reduction   // in the order of their start
	since  time.Time     // when the first of these began, and none was under way
	busy   time.Duration // with at least one under way, before since
}

// serve reduces messages until ready is closed.
func (l *reductions) serve(ctx context.Context, ready <-chan int) (err error) {
	for err == nil && (ready != nil || len(l.flying) > 0) {
		var first <-chan struct{}
		if len(l.flying) > 0 {
			first = l.flying[0].Done()
		}
		select {
		case message, ok := <-ready:
			if ok {
				err = l.begin(ctx, message)
			} else {
				ready = nil
			}
		case <-first:
			err = l.end(ctx)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return err
}

// begin begins the reduction of a message.
func (l *reductions) begin(ctx context.Context, message int) error {
	if len(l.flying) == 0 {
		l.since = time.Now()
	}
	r, err := l.start(ctx, message)
	l.flying = append(l.flying, r)
	return err
}

// end waits for the first reduction.
func (l *reductions) end(ctx context.Context) error {
	err := l.flying[0].Wait(ctx)
	if l.flying = l.flying[1:]; len(l.flying) == 0 {
		l.busy += time.Since(l.since)
	}
	return err
}

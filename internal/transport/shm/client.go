package shm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A requestClient is this rank's stations at one owner.
type requestClient struct {
	link *peerLink
	file *segment.Segment // the owner's lane file
	all  [stationsPerPeer]*station
	free chan *station // stations that nobody holds; they are given in the order of asking

	closed bool           // guarded by link.mu
	work   sync.WaitGroup // goroutines: one for each station whose atomic is in doubt

	ended func() error // why waiting is in vain; bound once, so that waits allocate nothing
}

func newLane(l *peerLink, file *segment.Segment) *requestClient {
	n := &requestClient{link: l, file: file, free: make(chan *station, stationsPerPeer)}
	n.ended = n.whyEnded
	for i := range n.all {
		n.all[i] = stationAt(file, stationID(l.t.rank, i), l.t.wait)
		n.free <- n.all[i]
	}
	return n
}

// take takes a station, nil if none is free and wait is false.
func (n *requestClient) take(wait bool) *station {
	if wait {
		return <-n.free
	}
	select {
	case s := <-n.free:
		return s
	default:
		return nil
	}
}

// takeBy takes a station, or returns the error of ctx if none is free before it ends.
func (n *requestClient) takeBy(ctx context.Context) (*station, error) {
	select {
	case s := <-n.free:
		return s, nil
	default:
	}
	select {
	case s := <-n.free:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send makes request r at station s.
func (n *requestClient) send(s *station, r memoryRequest) {
	r.write(s)
	if s.sent++; s.sent == 0 {
		s.sent = 1
	}
	n.file.Notifications().Set(s.id, s.sent)
}

// receive waits for the reply to the last request at s, which was for f. An end of the
// owner's service counts while the owner has not begun; what it has begun it finishes.
func (n *requestClient) receive(f *far, s *station) error {
	err := n.replied(context.Background(), s, n.ended)
	if err != nil {
		if n.takeBack(s) {
			return err
		}
		if err = n.replied(context.Background(), s, n.link.Lost); err != nil {
			return err
		}
	}
	_, err = n.outcome(f, s)
	return err
}

// replied waits for the reply to the last request at s.
func (n *requestClient) replied(ctx context.Context, s *station, stop func() error) error {
	_, err := s.reply.Wait(ctx, notify.Until(0, notify.Equal, s.sent), stop, nil)
	return err
}

// takeBack takes the last request at s back unless the owner has begun, and reports
// whether it did.
func (n *requestClient) takeBack(s *station) bool {
	back, _ := n.file.Notifications().Reset(s.id)
	return back != 0
}

// outcome is what the reply at s says of a request for f: the old value of an atomic.
func (n *requestClient) outcome(f *far, s *station) (uint64, error) {
	value, outcome := s.answer[1].Load(), status(s.answer[0].Load())
	runtime.KeepAlive(n)
	if outcome == statusDone {
		return value, nil
	}
	return 0, n.refusal(f, outcome)
}

// atomic makes request r for f at a free station and returns the old value. When ctx has
// ended and the grace is over, the request is taken back; if the owner has begun and been
// stopped, it is in doubt.
func (n *requestClient) atomic(ctx context.Context, f *far, r memoryRequest) (uint64, error) {
	var grace transport.Grace
	var s *station
	err := grace.Wait(ctx, func(ctx context.Context) (err error) {
		s, err = n.takeBy(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	n.send(s, r)
	err = grace.Wait(ctx, func(ctx context.Context) error { return n.replied(ctx, s, n.ended) })
	if err != nil {
		if n.takeBack(s) {
			n.free <- s
			return 0, err
		}
		if errors.Is(err, ctx.Err()) {
			return 0, n.doubt(err, f, s)
		}
		err = n.replied(context.Background(), s, n.link.Lost)
	}
	defer func() { n.free <- s }()
	if err != nil {
		return 0, err
	}
	return n.outcome(f, s)
}

// doubt is the error of an atomic at s that the owner has begun and not finished. The
// station is free again when it has, whether anybody waits for that or not.
func (n *requestClient) doubt(cause error, f *far, s *station) error {
	n.link.mu.Lock()
	defer n.link.mu.Unlock()
	if n.closed {
		return base.ErrClosed
	}
	var old uint64
	var err error
	known := make(chan struct{})
	n.work.Go(func() {
		defer close(known)
		if err = n.replied(context.Background(), s, n.link.Lost); err == nil {
			old, err = n.outcome(f, s)
		}
		n.free <- s
	})
	return base.InDoubt(cause, func(ctx context.Context) (uint64, error) {
		select {
		case <-known:
			return old, err
		default:
		}
		select {
		case <-known:
			return old, err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

func (n *requestClient) whyEnded() error {
	if err := n.link.Lost(); err != nil {
		return err
	}
	if n.file.Notifications().Load(closedWord(n.link.t.size)) != 0 {
		return transport.ErrorOfLeaver(n.link.rank)
	}
	return nil
}

// refusal is the error that stands for an outcome.
func (n *requestClient) refusal(f *far, outcome status) error {
	switch outcome {
	case statusNoSegment:
		return noSegment(n.link.rank, f.id, n.link.t.rank)
	case statusOutOfRange:
		return fmt.Errorf("%w: of segment %d of rank %d, which has %d bytes", base.ErrOutOfRange, f.id, n.link.rank, f.size)
	case statusUnaligned:
		return fmt.Errorf("%w: a 64-bit atomic needs a multiple of 8 bytes, in segment %d of rank %d and in the memory that it was bound to", base.ErrUnaligned, f.id, n.link.rank)
	default:
		return fmt.Errorf("rank %d answered a request for segment %d with %d, which this version does not know: build all ranks from one source", n.link.rank, f.id, outcome)
	}
}

// wake makes everybody who waits for a reply look again.
func (n *requestClient) wake() {
	for _, s := range n.all {
		s.reply.Wake()
	}
}

// close ends all waits for replies with base.ErrClosed. The caller holds link.mu.
func (n *requestClient) close() {
	n.closed = true
	for _, s := range n.all {
		s.reply.Close()
	}
	n.work.Wait()
}

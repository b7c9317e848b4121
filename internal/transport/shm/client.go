package shm

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A lane is this rank's stations at one owner.
type lane struct {
	link *peerLink
	file *segment.Segment // the owner's lane file
	all  [stationsPerPeer]*station
	free chan *station // stations that nobody holds; they are given in the order of asking

	ended func() error // why waiting is in vain; bound once, so that waits allocate nothing
}

func newLane(l *peerLink, file *segment.Segment) *lane {
	n := &lane{link: l, file: file, free: make(chan *station, stationsPerPeer)}
	n.ended = n.whyEnded
	for i := range n.all {
		n.all[i] = stationAt(file, stationID(l.t.rank, i), l.t.wait)
		n.free <- n.all[i]
	}
	return n
}

// take takes a station, nil if none is free and wait is false.
func (n *lane) take(wait bool) *station {
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

// send makes request r at station s.
func (n *lane) send(s *station, r request) {
	r.write(s)
	if s.sent++; s.sent == 0 {
		s.sent = 1
	}
	n.file.Board().Post(s.id, s.sent)
}

// receive waits for the reply to the last request at s, which was for f, and
// returns the old value of an atomic. An end of ctx or of the owner's service
// counts while the owner has not begun; what it has begun it finishes soon.
func (n *lane) receive(ctx context.Context, f *far, s *station) (uint64, error) {
	replied := notify.Until(0, notify.Equal, s.sent)
	_, err := s.reply.Wait(ctx, replied, n.ended, nil)
	if err != nil {
		if back, _ := n.file.Board().Reset(s.id); back != 0 {
			return 0, n.final(f, err)
		}
		if _, err = s.reply.Wait(context.Background(), replied, n.lost, nil); err != nil {
			return 0, err
		}
	}
	value, outcome := s.answer[1].Load(), status(s.answer[0].Load())
	runtime.KeepAlive(n)
	if outcome == statusDone {
		return value, nil
	}
	return 0, n.refusal(f, outcome)
}

// errServiceEnded says that the owner has closed its transport.
var errServiceEnded = fmt.Errorf("%w: its owner has closed", base.ErrNoSegment)

func (n *lane) whyEnded() error {
	if err := n.lost(); err != nil {
		return err
	}
	if n.file.Board().Load(closedWord(n.link.t.size)) != 0 {
		return errServiceEnded
	}
	return nil
}

// lost is the owner's end, or nil.
func (n *lane) lost() error {
	if err := n.link.lost.Load(); err != nil {
		return err
	}
	return nil
}

// final is the error of a request that was taken back because of err.
func (n *lane) final(f *far, err error) error {
	if err == errServiceEnded {
		return n.refusal(f, statusNoSegment)
	}
	return err
}

// refusal is the error that stands for an outcome.
func (n *lane) refusal(f *far, outcome status) error {
	switch outcome {
	case statusNoSegment:
		return noSegment(n.link.rank, f.id, n.link.t.rank)
	case statusOutOfRange:
		return fmt.Errorf("%w: of segment %d of rank %d, which has %d bytes", base.ErrOutOfRange, f.id, n.link.rank, f.size)
	case statusUnaligned:
		return fmt.Errorf("%w: segment %d of rank %d, or the memory it was bound to", base.ErrUnaligned, f.id, n.link.rank)
	default:
		return fmt.Errorf("rank %d answered a request for segment %d with %d, which this version does not know: build all ranks from one source", n.link.rank, f.id, outcome)
	}
}

// wake makes everybody who waits for a reply look again.
func (n *lane) wake() {
	for _, s := range n.all {
		s.reply.Wake()
	}
}

// close ends all waits for replies with base.ErrClosed.
func (n *lane) close() {
	for _, s := range n.all {
		s.reply.Close()
	}
}

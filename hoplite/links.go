package hoplite

import (
	"context"
	"errors"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

const (
	// pings is how many round trips are measured, of which the fastest counts: what
	// delays a message is not the link.
	pings = 32
	// Writes to measure the bandwidth by double until one takes streamLeast, which is long
	// enough for the clock and the link, and stop at streamMost bytes.
	streamFirst = 64 << 10
	streamMost  = 4 << 20
	streamLeast = 2 * time.Millisecond
)

// measure finds out what the link between the first two members is like, and tells all of
// them. The ring that each has for the other serves as scratch for the messages, and the
// objects' memory for the stream; nothing else uses them yet.
func (s *Store) measure(ctx context.Context, own *gaspi.Group) (Links, error) {
	if len(s.peers) == 1 {
		return Links{}, nil
	}
	found := make([]float64, 2) // latency and bandwidth; the others have zeros
	var err error
	switch s.me {
	case 0:
		found[0], found[1], err = s.ping(ctx)
	case 1:
		err = s.pong(ctx)
	}
	if errors.Is(err, gaspi.ErrNoSegment) {
		err = agree.Reason(ctx, s.seg, own.Revoked, err)
	}
	if err := agree.Unanimous(ctx, own, err); err != nil {
		return Links{}, err
	}
	if err := agree.AllReduce(ctx, own, found, gaspi.Max); err != nil {
		return Links{}, err
	}
	return Links{Latency: found[0], Bandwidth: found[1]}, nil
}

// ping measures from the side of the first member.
func (s *Store) ping(ctx context.Context) (latency, bandwidth float64, err error) {
	trip := time.Duration(1<<63 - 1)
	for range pings {
		begin := time.Now()
		if err := s.hit(ctx, 1); err != nil {
			return 0, 0, err
		}
		if err := s.awaitHit(ctx); err != nil {
			return 0, 0, err
		}
		trip = min(trip, time.Since(begin))
	}
	latency = trip.Seconds() / 2
	most := min(streamMost, uint64(s.cfg.Capacity))
	for n := min(streamFirst, most); ; n = min(2*n, most) {
		took, err := s.stream(ctx, n)
		if err != nil {
			return 0, 0, err
		}
		if took >= streamLeast || n == most {
			return latency, float64(n) / max(took.Seconds()-2*latency, 1e-9), nil
		}
	}
}

// stream writes n bytes to the second member and returns how long that took until they
// were known to be there.
func (s *Store) stream(ctx context.Context, n uint64) (time.Duration, error) {
	src, err := s.seg.Span(s.lay.objects(), n)
	if err != nil {
		return 0, err
	}
	q := s.scratchQueue(1)
	begin := time.Now()
	if err := q.Write(s.seg.At(s.peers[1].rank, s.lay.objects()), src); err != nil {
		return 0, err
	}
	if err := q.Flush(ctx, s.peers[1].rank); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	return took, q.Wait(ctx)
}

// pong answers the messages of ping.
func (s *Store) pong(ctx context.Context) error {
	for range pings {
		if err := s.awaitHit(ctx); err != nil {
			return err
		}
		if err := s.hit(ctx, 0); err != nil {
			return err
		}
	}
	return s.scratchQueue(0).Wait(ctx)
}

// hit sends a message as big as those of the protocol to a member.
func (s *Store) hit(ctx context.Context, to int) error {
	src, err := s.seg.Span(s.lay.out(to), slotSize)
	if err != nil {
		return err
	}
	q := s.scratchQueue(to)
	n := gaspi.Notification{ID: s.lay.doorbell(), Value: 1}
	if err := q.WriteNotify(s.seg.At(s.peers[to].rank, s.lay.in(s.me)), src, n); err != nil {
		return err
	}
	return q.Wait(ctx)
}

func (s *Store) awaitHit(ctx context.Context) error {
	if _, err := s.seg.WaitSome(ctx, s.lay.doorbell(), 1); err != nil {
		return err
	}
	_, err := s.seg.Reset(s.lay.doorbell())
	return err
}

// scratchQueue is what carries messages to a member.
func (s *Store) scratchQueue(to int) *gaspi.Queue {
	if l := s.peers[to].lane; l != nil {
		return l.queue
	}
	return s.queue
}

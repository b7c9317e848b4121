// Package transporttest is the contract of package transport as tests: every
// transport passes Run. It knows no transport; each one's own test makes the
// ranks and calls it.
package transporttest

import (
	"bytes"
	"context"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// IDs is how many segment ids the transports of a Factory must have.
const IDs = 8

// A Factory makes the transports of n ranks that reach each other, one per rank,
// closed when the test ends.
type Factory func(t *testing.T, n int) []transport.Transport

// A NewSegment makes memory that the transport's peers can reach and wake.
type NewSegment func(size uint64, notifications uint32) (*segment.Segment, error)

// Run runs the suite. The ranks are all in this process; a transport between
// processes is to be tested across processes too.
func Run(t *testing.T, factory Factory, newSegment NewSegment) {
	for _, c := range []struct {
		name string
		test func(j *fixture)
	}{
		{"put and get anywhere", putAndGetAnywhere},
		{"empty transfers", emptyTransfers},
		{"addresses", addresses},
		{"bounds", bounds},
		{"flags that are refused", refusedFlags},
		{"flags", flags},
		{"a flag in another segment", flagElsewhere},
		{"a get with notification", getNotify},
		{"a flag shows its put", flagShowsItsPut},
		{"notify is a fence", notifyIsAFence},
		{"flush means arrival", flushMeansArrival},
		{"atomics", atomics},
		{"atomics are refused", refusedAtomics},
		{"atomics under contention", contendedAtomics},
		{"an atomic whose context has ended is carried out", endedContextIsCarriedOut},
		{"an error of a context means not applied", errorMeansNotApplied},
		{"an atomic returns no answer of another", noAnswerOfAnother},
		{"atomics and generations", atomicsAndGenerations},
		{"expose, grant, withdraw", exposure},
		{"grants", grants},
		{"generations", generations},
		{"a segment in place of another", replaced},
		{"a late put goes nowhere", latePut},
		{"a late notification goes nowhere", lateNotify},
		{"size and mapped", sizeAndMapped},
		{"lose", lose},
		{"lose before the first use", loseFirst},
		{"leave", leave},
		{"ping", ping},
		{"links", links},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(&fixture{T: t, factory: factory, newSegment: newSegment})
		})
	}
}

// fixture is what one test of the suite works with.
type fixture struct {
	*testing.T
	factory    Factory
	newSegment NewSegment
	ranks      []transport.Transport
}

// start makes n ranks.
func (j *fixture) start(n int) { j.ranks = j.factory(j.T, n) }

// memory makes a segment of size bytes with 16 notifications.
func (j *fixture) memory(size uint64) *segment.Segment {
	j.Helper()
	s, err := j.newSegment(size, 16)
	j.ok(err)
	j.Cleanup(func() { s.Close() })
	return s
}

// often is how often a test does something of which any time may go wrong: n times, or a
// quarter in short tests, as the race detector takes them, which watches every time.
func often(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// open makes a segment of rank r under id that all ranks may reach.
func (j *fixture) open(r base.Rank, id segment.ID, size uint64) *segment.Segment {
	j.Helper()
	s := j.memory(size)
	j.ok(j.ranks[r].Expose(id, s))
	for peer := range j.ranks {
		j.ok(j.ranks[r].Grant(id, base.Rank(peer)))
	}
	return s
}

// link is rank from's way to rank to.
func (j *fixture) link(from, to base.Rank) transport.Link {
	j.Helper()
	l, err := j.ranks[from].Link(to)
	j.ok(err)
	return l
}

func (j *fixture) ok(err error) {
	j.Helper()
	if err != nil {
		j.Fatal(err)
	}
}

// span is [offset, offset+n) of s, which must be in it.
func (j *fixture) span(s *segment.Segment, offset, n uint64) segment.Span {
	j.Helper()
	x, err := s.Span(offset, n)
	j.ok(err)
	return x
}

// arrived flushes what was put on q.
func (j *fixture) arrived(l transport.Link, q *transport.Queue) {
	j.Helper()
	j.ok(l.Flush(context.Background(), q))
}

// ended is how an operation on q ended whose call returned err: with that, or with
// what the next Flush says, or the next Wait. After it q knows of no failure.
func (j *fixture) ended(l transport.Link, q *transport.Queue, err error) error {
	j.Helper()
	if flushed := l.Flush(j.Context(), q); err == nil {
		err = flushed
	}
	if waited := q.Wait(j.Context(), notify.GoroutineWait(0, 0), nil); err == nil {
		err = waited
	}
	if failed := q.Failure(); err == nil {
		err = failed
	}
	return err
}

// await waits for notification id of s and takes it.
func (j *fixture) await(s *segment.Segment, id notify.ID) notify.Value {
	if _, err := s.Notifications().Wait(j.Context(), notify.Some(id, 1), nil, nil); err != nil {
		j.Errorf("waiting for notification %d: %v", id, err)
	}
	v, err := s.Notifications().Reset(id)
	if err != nil {
		j.Errorf("reset of notification %d: %v", id, err)
	}
	return v
}

// pattern fills b with bytes that depend on seed.
func pattern(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed*31 + 1)
	}
}

// holds fails the test unless s holds want from offset and zeros around it.
func (j *fixture) holds(what string, s *segment.Segment, offset uint64, want []byte) {
	j.Helper()
	all := make([]byte, s.Size())
	copy(all[offset:], want)
	if got := s.All().Bytes(); !bytes.Equal(got, all) {
		for i := range got {
			if got[i] != all[i] {
				j.Fatalf("%s: byte %d is %#x, want %#x", what, i, got[i], all[i])
			}
		}
	}
}

func newQueue() *transport.Queue { return transport.NewQueue(1<<20, 0) }

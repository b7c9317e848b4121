package rdma

import (
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// generous is how long what has no context may take before a test gives up.
const generous = 30 * time.Second

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// exposed makes a segment of tr that all ranks may reach.
func exposed(t testing.TB, tr *Transport, id segment.ID, size uint64) *segment.Segment {
	t.Helper()
	s, err := segment.New(size, 16, tr.cfg.WaitPolicy)
	ok(t, err)
	ok(t, tr.Expose(id, s))
	for r := range tr.cfg.Size {
		ok(t, tr.Grant(id, base.Rank(r)))
	}
	return s
}

func linkTo(t testing.TB, tr *Transport, r base.Rank) *link {
	t.Helper()
	l, err := tr.Link(r)
	ok(t, err)
	return l.(*link)
}

func spanOf(t testing.TB, s *segment.Segment, offset, n uint64) segment.Span {
	t.Helper()
	x, err := s.Span(offset, n)
	ok(t, err)
	return x
}

func newQueue() *transport.Queue { return transport.NewQueue(1<<20, 0) }

// settle waits for all that is under way on q and returns why something failed.
func settle(t testing.TB, q *transport.Queue, tr *Transport) error {
	t.Helper()
	ok(t, q.Wait(testenv.Context(t), tr.cfg.WaitPolicy, nil))
	return q.Failure()
}

// awaitNote waits for a notification and takes it.
func awaitNote(t testing.TB, s *segment.Segment, id notify.ID) notify.Value {
	t.Helper()
	if _, err := s.Notifications().Wait(testenv.Context(t), notify.Some(id, 1), nil, nil); err != nil {
		t.Fatalf("notification %d: %v", id, err)
	}
	v, err := s.Notifications().Reset(id)
	ok(t, err)
	return v
}

// isGone fails the test unless err says that rank r is gone.
func isGone(t testing.TB, what string, err error, r base.Rank) {
	t.Helper()
	if gone, is := errors.AsType[*base.RankError](err); !is || gone.Rank != r {
		t.Errorf("%s: %v; want that rank %d is gone", what, err, r)
	}
}

// fill fills b with bytes that depend on seed.
func fill(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i*7 + i>>8 + i>>16 + seed*31 + 1)
	}
}

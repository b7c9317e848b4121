package tcp

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// generous is a silence that no rank of a test comes near.
const generous = 20 * time.Second

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

func queueOn(lane int) *transport.Queue { return transport.NewQueue(1<<20, lane) }

// settle waits for all that is under way on q and returns why something failed.
func settle(t testing.TB, q *transport.Queue) error {
	t.Helper()
	ok(t, q.Wait(testenv.Context(t), polling(), nil))
	return q.Failure()
}

func fill(b []byte, seed uint64) {
	rng := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = rng.Read(b)
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

// stall makes tr deaf to peer's lane until the returned function is called: what
// arrives stays where it is, as if the process were stopped.
func stall(t testing.TB, tr *Transport, peer base.Rank, lane int) (resume func()) {
	t.Helper()
	var c *conn
	testenv.Eventually(t, "the lane is open", func() bool {
		c = tr.conns[int(peer)*tr.cfg.Connections+lane].Load()
		return c != nil
	})
	c.in.mu.Lock()
	var once atomic.Bool
	resume = func() {
		if once.CompareAndSwap(false, true) {
			c.in.mu.Unlock()
		}
	}
	t.Cleanup(resume)
	return resume
}

// isGone fails the test unless err says that rank r is gone.
func isGone(t testing.TB, what string, err error, r base.Rank) {
	t.Helper()
	if gone, is := errors.AsType[*base.RankError](err); !is || gone.Rank != r {
		t.Errorf("%s: %v; want that rank %d is gone", what, err, r)
	}
}

// both runs a test without and with TLS.
func both(t *testing.T, test func(t *testing.T, change func(base.Rank, *Config))) {
	for _, c := range []struct {
		name string
		tls  bool
	}{{"plain", false}, {"TLS", true}} {
		t.Run(c.name, func(t *testing.T) {
			test(t, func(_ base.Rank, cfg *Config) { cfg.TLS = c.tls })
		})
	}
}

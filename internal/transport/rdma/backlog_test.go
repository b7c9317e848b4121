package rdma

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// until waits until look reports true of tr, under its lock.
func until(t testing.TB, tr *Transport, what string, look func() bool) {
	t.Helper()
	for ctx := testenv.Context(t); ; time.Sleep(100 * time.Microsecond) { // sleep: nothing tells
		tr.mu.Lock() // without unlock, which would wake the thread
		seen := look()
		tr.mu.Unlock()
		if seen {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("it never comes that %s", what)
		}
	}
}

// part makes two ranks not wait for each other when they close.
func part(ranks []*Transport) {
	for r, tr := range ranks {
		tr.Lose(&base.RankError{Rank: base.Rank(1 - r), Reason: "the test is over"})
	}
}

// An answer is refused for want of room after the thread fell asleep, by the goroutine
// that has found out where the asker is: nobody else is about to try again, and nothing
// tells of the room.
func TestRefusedWhileTheThreadSleeps(t *testing.T) {
	net := newMemoryNet(t, nil)
	var ranks []*Transport
	ranks = joinOver(t, 2, func() fabric { return net.open() }, func(cfg *Config) {
		if lookup := cfg.Lookup; cfg.Rank == 1 {
			cfg.Lookup = func(ctx context.Context, r base.Rank) (string, error) {
				until(t, ranks[1], "the thread sleeps", func() bool { return ranks[1].progress.asleep })
				net.nodes[1].fill(3)
				return lookup(ctx, r)
			}
		}
	})
	ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
}

// An operation that waits for room, and is the last one with a segment that the peer
// has withdrawn: what is said then goes out behind it.
func TestSegmentIsReleasedBehindTheBacklog(t *testing.T) {
	ranks, nodes, _ := lifeNet(t)
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	_, _, err := l.Size(1)
	ok(t, err)
	nodes[0].fill(math.MaxInt)
	ok(t, l.Put(q, transport.Addr{Segment: 1}, spanOf(t, own, 0, 8)))
	gone := make(chan error)
	go func() { gone <- ranks[1].Withdraw(1) }()
	until(t, ranks[0], "the segment is forgotten", func() bool { return l.segments.Get(1) == nil })
	nodes[0].fill(0)
	ok(t, <-gone)
	ok(t, settle(t, q, ranks[0]))
	if n := registrations(ranks[1]); n != 0 {
		t.Errorf("%d registrations are left", n)
	}
}

// Goal: a notification of a segment that is withdrawn while it is on its way with bytes for another segment never comes to
// the next segment of its id, also where messages overtake writes: the peer says that it has done with a segment only when
// no such write is under way.
// Method: writes stay on their way until the withdrawal was answered, and go on when the segment is there anew or the owner
// still waits.
func TestNotificationBesideAWithdrawnSegment(t *testing.T) {
	net := newMemoryNet(t, func(n *memoryNet) { n.promises.sendAfterWrite = false })
	ranks := joinOver(t, 2, func() fabric { return net.open() })
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	exposed(t, ranks[1], 2, 64)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	for id := range segment.ID(2) {
		_, _, err := l.Size(id + 1)
		ok(t, err)
	}
	net.hold(true)
	ok(t, l.PutNotify(q, transport.Addr{Segment: 1}, spanOf(t, own, 0, 8), transport.Flag{Segment: 2, ID: 3, Value: 7}))
	gone := make(chan error)
	go func() { gone <- ranks[1].Withdraw(2) }()
	until(t, ranks[0], "the segment is forgotten", func() bool { return l.segments.Get(2) == nil })
	ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t))) // whose answer comes behind what rank 0 has said
	deferred := func() int {
		ranks[1].lock()
		defer ranks[1].unlock()
		return len(ranks[1].deferred)
	}
	waits := deferred() > 0
	if waits {
		net.hold(false)
	}
	if ok(t, <-gone); deferred() > 0 {
		t.Error("the segment is not given back when the write has ended")
	}
	next := exposed(t, ranks[1], 2, 64)
	net.hold(false)
	ok(t, settle(t, q, ranks[0]))
	ok(t, l.Ping(testenv.Context(t))) // what came before was handled
	if v := next.Notifications().Load(3); v != 0 || !waits {
		t.Errorf("the next segment of the id has notification %d; the owner has waited: %t", v, waits)
	}
}

// A transfer fails while some of its pieces still wait for room.
func TestTransferFailsInTheMiddleOfItsPieces(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		net := newMemoryNet(t, func(n *memoryNet) { n.promises.transfer, n.promises.inFlight = 10, inFlight })
		ranks := joinOver(t, 2, func() fabric { return net.open() })
		own := exposed(t, ranks[0], 1, 100)
		exposed(t, ranks[1], 1, 100)
		l, q := linkTo(t, ranks[0], 1), newQueue()
		_, _, err := l.Size(1)
		ok(t, err)
		ranks[1].mu.Lock() // nothing arrives
		ok(t, l.Get(q, own.All(), transport.Addr{Segment: 1}))
		ok(t, l.Get(q, own.All(), transport.Addr{Segment: 1}))
		net.nodes[1].kill()
		isGone(t, "get", settle(t, q, ranks[0]), 1)
		ranks[1].unlock()
		until(t, ranks[0], "all is given back", func() bool { return len(ranks[0].free) == inFlight && l.reads == nil })
		part(ranks)
	}
}

// A read that has ended and waits for an earlier one, which never does, ends when the
// peer is lost.
func TestReadBehindAnotherEndsWithThePeer(t *testing.T) {
	ranks, _, _ := lifeNet(t)
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	_, _, err := l.Size(1)
	ok(t, err)
	ranks[1].mu.Lock() // nothing arrives
	defer ranks[1].unlock()
	at := transport.Addr{Segment: 1}
	ok(t, l.Get(q, own.All(), at))
	ok(t, l.GetNotify(q, segment.Span{}, at, own.Notifications(), transport.Flag{ID: 3, Value: 1}))
	ranks[0].Lose(&base.RankError{Rank: 1, Reason: "killed"})
	isGone(t, "gets", settle(t, q, ranks[0]), 1)
	if v := own.Notifications().Load(3); v != 0 {
		t.Errorf("the notification behind a failed get was posted: %d", v)
	}
}

// Goal: a notification behind a read that fails is not posted, and its operation fails too.
// Method: the fabric of the peer breaks while a read is in flight, and the notification waits behind the read.
func TestNotificationBehindAReadThatFails(t *testing.T) {
	ranks, nodes, _ := lifeNet(t)
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	_, _, err := l.Size(1)
	ok(t, err)
	ranks[1].mu.Lock() // nothing arrives
	at := transport.Addr{Segment: 1}
	ok(t, l.Get(q, own.All(), at))
	ok(t, l.GetNotify(q, segment.Span{}, at, own.Notifications(), transport.Flag{ID: 3, Value: 1}))
	nodes[1].kill()
	isGone(t, "gets", settle(t, q, ranks[0]), 1)
	ranks[1].unlock()
	if v := own.Notifications().Load(3); v != 0 {
		t.Errorf("the notification behind a failed read was posted: %d", v)
	}
	part(ranks)
}

// A peer whose address is of no use: what waited to go there ends, so that Close does
// not wait for it.
func TestAnswerToAPeerThatCannotBeFound(t *testing.T) {
	net := newMemoryNet(t, nil)
	ranks := joinOver(t, 2, func() fabric { return net.open() }, func(cfg *Config) {
		if cfg.Rank == 1 {
			cfg.Lookup = func(context.Context, base.Rank) (string, error) { return "nonsense", nil }
		}
	})
	asking, cancel := context.WithCancel(t.Context())
	said := make(chan error)
	go func() { said <- linkTo(t, ranks[0], 1).Ping(asking) }()
	until(t, ranks[1], "the answer is given up", func() bool {
		l := ranks[1].links.Get(0)
		return l != nil && l.fault != nil && l.first == nil
	})
	cancel()
	if err := <-said; err == nil {
		t.Error("an answer came from a rank that does not know where to send it")
	}
	part(ranks)
}

// Goal: a request that waits for the address of its peer ends when that cannot be found out, and the next one asks anew.
// Method: rank 1 owes rank 0 an answer, and flushes, while it looks up where rank 0 is. The first lookup fails, the second does
// not.
func TestRequestToAPeerThatCannotBeFound(t *testing.T) {
	net, unknown := newMemoryNet(t, nil), errors.New("nobody knows")
	answer, calls := make(chan error), 0
	ranks := joinOver(t, 2, func() fabric { return net.open() }, func(cfg *Config) {
		if lookup := cfg.Lookup; cfg.Rank == 1 {
			cfg.Lookup = func(ctx context.Context, r base.Rank) (string, error) {
				if calls++; calls == 1 {
					return "", <-answer
				}
				return lookup(ctx, r)
			}
		}
	})
	asking, cancel := context.WithCancel(t.Context())
	said := make(chan error)
	go func() { said <- linkTo(t, ranks[0], 1).Ping(asking) }()
	until(t, ranks[1], "an answer is due", func() bool { l := ranks[1].links.Get(0); return l != nil && l.first != nil })
	flushed, ctx := make(chan error), testenv.Context(t)
	go func() { flushed <- linkTo(t, ranks[1], 0).Flush(ctx, newQueue()) }()
	until(t, ranks[1], "the flush waits", func() bool { return linkTo(t, ranks[1], 0).requests.Len() == 1 })
	answer <- unknown
	if err := <-flushed; !errors.Is(err, unknown) || errors.Is(err, base.ErrRankDead) {
		t.Errorf("%v, want that of the lookup", err)
	}
	cancel()
	<-said
	ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
	if n := linkTo(t, ranks[1], 0).requests.Len(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
}

// Both close at the same time: none is gone before the last word of the other has come,
// which the network in memory watches.
func TestBothClose(t *testing.T) {
	for range 50 {
		net := newMemoryNet(t, func(n *memoryNet) { n.again = 0.3 })
		ranks := joinOver(t, 2, func() fabric { return net.open() })
		ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
		var wg sync.WaitGroup
		for _, tr := range ranks {
			wg.Go(func() {
				if err := tr.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

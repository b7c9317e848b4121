package tcp

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Segments that are withdrawn while operations on them are under way.

// withdrawn makes two ranks of which rank 0 does not know yet that segment 1 of
// rank 1 is gone and another is there in its place.
func withdrawn(t *testing.T, change func(base.Rank, *Config)) (ranks []*Transport, l *link, resume func()) {
	ranks = join(t, 2, change)
	exposed(t, ranks[0], 1, 1<<20)
	exposed(t, ranks[1], 1, 1<<20)
	exposed(t, ranks[1], 2, 64)
	l = linkTo(t, ranks[0], 1)
	for id := range 2 {
		_, err := l.descriptor(1, 0)
		ok(t, err)
		_, err = l.descriptor(2, 0)
		ok(t, err)
		_ = id
	}
	resume = stall(t, ranks[0], 1, 0)
	ranks[1].withdrawal = time.Millisecond // rank 0 says nothing
	ok(t, ranks[1].Withdraw(1))
	exposed(t, ranks[1], 1, 1<<20)
	return ranks, l, resume
}

// Withdraw waits for peers that have the descriptor, so that a put afterwards is for the next segment.
func TestWithdrawWaitsForHolders(t *testing.T) {
	ranks := join(t, 3, nil)
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	l, q := linkTo(t, ranks[0], 1), queueOn(0)
	ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
	resume := stall(t, ranks[0], 1, 0)
	ranks[1].withdrawal = time.Hour // the test ends before
	done := make(chan error, 1)
	go func() { done <- ranks[1].Withdraw(1) }()
	testenv.Eventually(t, "segment 1 is withdrawn", func() bool { return ranks[1].registry.At(1) == nil })
	select {
	case err := <-done:
		t.Errorf("Withdraw returned %v while rank 0 had the descriptor", err)
	case <-time.After(20 * time.Millisecond): // a Withdraw that does not wait takes microseconds
	}
	resume()
	ok(t, <-done)
	if d := l.segments.Get(1); d != nil {
		t.Errorf("rank 0 still has the descriptor of generation %d", d.Generation)
	}
}

// A holder is waited for whose only connection is busy, and not the first one.
func TestWithdrawWaitsOnABusyChannel(t *testing.T) {
	ranks := join(t, 2, nil)
	own := exposed(t, ranks[0], 1, 64)
	exposed(t, ranks[1], 1, 64)
	l := linkTo(t, ranks[0], 1)
	ok(t, l.Put(queueOn(2), transport.Addr{Segment: 1}, own.All()))
	ok(t, l.Flush(testenv.Context(t), queueOn(2)))
	c := linkTo(t, ranks[1], 0).channels[2].conn.Load()
	c.out.mu.Lock()
	c.out.armLocked(true)
	c.out.mu.Unlock()
	ok(t, ranks[1].Withdraw(1))
	if d := l.segments.Get(1); d != nil {
		t.Errorf("rank 0 still has the descriptor of generation %d", d.Generation)
	}
}

// Nobody is waited for who has gone, or goes meanwhile.
func TestWithdrawWaitsForNobodyWhoIsGone(t *testing.T) {
	for _, when := range []string{"before", "meanwhile"} {
		t.Run(when, func(t *testing.T) {
			ranks := join(t, 2, nil)
			own := exposed(t, ranks[0], 1, 64)
			exposed(t, ranks[1], 1, 64)
			ok(t, linkTo(t, ranks[0], 1).Put(queueOn(0), transport.Addr{Segment: 1}, own.All()))
			stall(t, ranks[0], 1, 0)
			ranks[1].withdrawal = time.Hour // the test ends before
			gone := func() { ranks[1].Lose(&base.RankError{Rank: 0, Reason: "it was killed"}) }
			if when == "before" {
				gone()
			} else {
				go func() {
					for ranks[1].registry.At(1) != nil {
						time.Sleep(time.Millisecond) // sleep: nothing tells
					}
					gone()
				}()
			}
			ok(t, ranks[1].Withdraw(1))
		})
	}
}

func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		flag := transport.Flag{Segment: 1, ID: 1, Value: 1}
		for _, c := range []struct {
			name string
			do   func(t *testing.T, l *link, q *transport.Queue) error
		}{
			{"put", func(t *testing.T, l *link, q *transport.Queue) error {
				return l.Put(q, transport.Addr{Segment: 1}, spanOf(t, l.t.registry.At(1).Segment, 0, 100_000))
			}},
			{"put_notify", func(t *testing.T, l *link, q *transport.Queue) error {
				return l.PutNotify(q, transport.Addr{Segment: 1}, spanOf(t, l.t.registry.At(1).Segment, 0, 8), flag)
			}},
			{"put_notify of nothing", func(t *testing.T, l *link, q *transport.Queue) error {
				return l.PutNotify(q, transport.Addr{Segment: 1}, spanOf(t, l.t.registry.At(1).Segment, 0, 0), flag)
			}},
			{"put_notify with the flag elsewhere", func(t *testing.T, l *link, q *transport.Queue) error {
				return l.PutNotify(q, transport.Addr{Segment: 2}, spanOf(t, l.t.registry.At(1).Segment, 0, 8), flag)
			}},
			{"notify", func(t *testing.T, l *link, q *transport.Queue) error { return l.Notify(q, flag) }},
		} {
			t.Run(c.name, func(t *testing.T) {
				ranks, l, resume := withdrawn(t, change)
				q, other := queueOn(0), queueOn(0)
				ok(t, l.Put(other, transport.Addr{Segment: 2}, spanOf(t, ranks[0].registry.At(1).Segment, 0, 8)))
				ok(t, c.do(t, l, q))
				resume()
				ok(t, l.Flush(testenv.Context(t), other))
				if err := l.Flush(testenv.Context(t), q); !errors.Is(err, base.ErrNoSegment) {
					t.Errorf("flush: %v, want ErrNoSegment", err)
				}
				ok(t, l.Flush(testenv.Context(t), q))
				ok(t, settle(t, q))
				fresh := ranks[1].registry.At(1).Segment
				if !bytes.Equal(fresh.All().Bytes(), make([]byte, 1<<20)) || fresh.Notifications().Load(1) != 0 {
					t.Error("what was meant for one segment putArrived in another")
				}
				if bytes, _, err := l.Size(1); err != nil || bytes != 1<<20 { // the new one
					t.Errorf("%d, %v", bytes, err)
				}
			})
		}
	})
}

func TestRefusalIsReportedByWait(t *testing.T) {
	_, l, resume := withdrawn(t, nil)
	q, last := queueOn(0), queueOn(0)
	ok(t, l.Notify(q, transport.Flag{Segment: 1, ID: 1, Value: 1}))
	resume()
	ok(t, l.Flush(testenv.Context(t), last)) // the refusal has come before
	if err := settle(t, q); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("wait: %v, want ErrNoSegment", err)
	}
	ok(t, l.Flush(testenv.Context(t), q)) // once is enough
	ok(t, settle(t, q))
}

func TestRefusedGetsAndAtomics(t *testing.T) {
	ranks, l, resume := withdrawn(t, nil)
	own := ranks[0].registry.At(1).Segment
	q := queueOn(0)
	fill(own.All().Bytes(), 4)
	before := bytes.Clone(own.All().Bytes())
	ok(t, l.GetNotify(q, own.All(), transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 1, Value: 1}))
	go func() { // once both are on their way
		c := ranks[0].conns[ranks[0].cfg.Connections].Load()
		testenv.Eventually(t, "two requests are pending", func() bool {
			c.out.mu.Lock()
			defer c.out.mu.Unlock()
			return c.out.requests.pending.Len() == 2
		})
		resume()
	}()
	if _, err := l.Atomic(testenv.Context(t), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("atomic: %v, want ErrNoSegment", err)
	}
	if err := settle(t, q); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("wait: %v, want ErrNoSegment", err)
	}
	if own.Notifications().Load(1) != 0 || !bytes.Equal(own.All().Bytes(), before) {
		t.Error("a get that was refused has had an effect")
	}
}

// Goal: a notification behind gets is posted when all of them have brought their bytes, and never if one of them was refused;
// a refused get of another queue, and one that the queue has told of, do not count.
// Method: rank 0 reads from a segment that is gone and from one that is there, in both orders, with a long reply whose rest
// waits for room, and asks for the notification before the replies or behind the refusal.
func TestNotificationBehindGets(t *testing.T) {
	const long = 32 << 20
	gone, there := transport.Addr{Segment: 1}, transport.Addr{Segment: 2}
	type get struct {
		queue int
		from  transport.Addr
		bytes uint64
	}
	for _, c := range []struct {
		name   string
		gets   []get
		late   bool // the notification is asked for when the refusal has come
		told   bool // and the queue has told of it
		posted bool
	}{
		{"refused first", []get{{0, gone, 8}, {0, there, 8}}, false, false, false},
		{"refused last", []get{{0, there, 8}, {0, gone, 8}}, false, false, false},
		{"refused alone", []get{{0, gone, 8}}, false, false, false},
		{"refused before", []get{{0, gone, 8}}, true, false, false},
		{"refused behind a long one", []get{{0, there, long}, {0, gone, 8}}, true, false, false},
		{"told", []get{{0, gone, 8}}, true, true, true},
		{"refused to another queue", []get{{0, there, 8}, {1, gone, 8}}, false, false, true},
		{"refused to another queue behind a long one", []get{{0, there, long}, {1, gone, 8}}, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, change func(base.Rank, *Config)) {
				ranks := join(t, 2, change)
				own := exposed(t, ranks[0], 1, long+8)
				exposed(t, ranks[1], 1, long)
				fill(exposed(t, ranks[1], 2, long).All().Bytes(), 3)
				l, queues := linkTo(t, ranks[0], 1), []*transport.Queue{queueOn(0), queueOn(0)}
				for id := range segment.ID(2) {
					_, err := l.descriptor(id+1, 0)
					ok(t, err)
				}
				resume := stall(t, ranks[0], 1, 0)
				ranks[1].withdrawal = time.Millisecond // rank 0 says nothing
				ok(t, ranks[1].Withdraw(1))
				for _, g := range c.gets {
					ok(t, l.Get(queues[g.queue], spanOf(t, own, 0, g.bytes), g.from))
				}
				if c.late {
					resume()
				}
				if c.told {
					if err := settle(t, queues[0]); !errors.Is(err, base.ErrNoSegment) {
						t.Fatalf("%v, want ErrNoSegment", err)
					}
				} else if c.late {
					testenv.Eventually(t, "a reply has come", func() bool { return pendingOf(l) < len(c.gets) })
				}
				ok(t, l.GetNotify(queues[0], segment.Span{}, there, own.Notifications(), transport.Flag{ID: 3, Value: 1}))
				if early := own.Notifications().Load(3); early != 0 && c.gets[0].bytes == long {
					if want := ranks[1].registry.At(2).Segment.All().Bytes(); !bytes.Equal(own.All().Bytes()[:long], want) {
						t.Error("the notification came before the bytes")
					}
				}
				if !c.late {
					resume()
				}
				err := settle(t, queues[0])
				if posted := own.Notifications().Load(3) != 0; posted != c.posted || (err == nil) != c.posted {
					t.Errorf("posted: %t, want %t; %v", posted, c.posted, err)
				}
			})
		})
	}
}

// pendingOf is how many requests to a peer are pending.
func pendingOf(l *link) int {
	c := l.channels[0].conn.Load()
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.requests.pending.Len()
}

// A put of which a part has arrived when its segment is withdrawn.
func TestWithdrawInTheMiddleOfAPut(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const size = 32 << 20
		ranks := join(t, 2, change)
		own, peer := exposed(t, ranks[0], 1, size), exposed(t, ranks[1], 1, size)
		for i := range own.All().Bytes() {
			own.All().Bytes()[i] = 1
		}
		l, q := linkTo(t, ranks[0], 1), queueOn(0)
		ok(t, l.PutNotify(q, transport.Addr{Segment: 1}, own.All(), transport.Flag{Segment: 1, ID: 1, Value: 1}))
		ok(t, ranks[1].Withdraw(1)) // in the middle, or before, or after
		at := bytes.LastIndexByte(peer.All().Bytes(), 1)
		seen := peer.Notifications().Load(1)
		err := l.Flush(testenv.Context(t), q)
		if waited := settle(t, q); err == nil {
			err = waited
		}
		if seen == 0 && !errors.Is(err, base.ErrNoSegment) {
			t.Errorf("%v; want ErrNoSegment, since it did not arrive", err)
		}
		if now := bytes.LastIndexByte(peer.All().Bytes(), 1); now != at || peer.Notifications().Load(1) != seen {
			t.Errorf("after the withdrawal the segment was still written to: byte %d and then %d", at, now)
		}
		ok(t, l.Ping(testenv.Context(t))) // the connection goes on
	})
}

// A get of which a part is on its way when its segment is withdrawn.
func TestWithdrawInTheMiddleOfAGet(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const size = 32 << 20
		ranks := join(t, 2, change)
		ranks[1].withdrawal = 100 * time.Millisecond // for the peer that does not read
		own, peer := exposed(t, ranks[0], 1, size), exposed(t, ranks[1], 1, size)
		for i := range peer.All().Bytes() {
			peer.All().Bytes()[i] = 1
		}
		l, q := linkTo(t, ranks[0], 1), queueOn(0)
		_, _, err := l.Size(1)
		ok(t, err)
		resume := stall(t, ranks[0], 1, int(l.idleChannel()))
		ok(t, l.Get(q, own.All(), transport.Addr{Segment: 1}))
		c := ranks[1].conns[0].Load()
		testenv.Eventually(t, "the answer is under way", func() bool { return c.out.armed.Load() })
		ok(t, ranks[1].Withdraw(1))
		for i := range peer.All().Bytes() {
			peer.All().Bytes()[i] = 2 // it is the program's again
		}
		resume()
		if err := settle(t, q); !errors.Is(err, base.ErrNoSegment) {
			t.Errorf("%v, want ErrNoSegment", err)
		}
		if bytes.IndexByte(own.All().Bytes(), 2) >= 0 {
			t.Error("memory was sent after its withdrawal")
		}
	})
}

package tcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Ranks that leave, break and are lost.

// losses notes what Config.Lost was told.
type losses struct {
	mu  sync.Mutex
	all []*base.RankError
}

func (x *losses) note(err *base.RankError) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, err)
}

func (x *losses) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// waiting lists operations that wait for a peer that does not read: big puts and
// gets on all lanes. It returns their queues.
func waiting(t *testing.T, l *link, own transport.Addr, body []byte, lanes int) (queues []*transport.Queue) {
	t.Helper()
	s := l.t.registry.At(own.Segment).Segment
	for lane := range lanes {
		q := queueOn(lane)
		at := transport.Addr{Segment: 1, Offset: uint64(lane * len(body))}
		ok(t, l.Put(q, at, spanOf(t, s, 0, uint64(len(body)))))
		ok(t, l.Get(q, spanOf(t, s, uint64(8*lane), 8), transport.Addr{Segment: 1}))
		queues = append(queues, q)
	}
	return queues
}

func TestLostPeerEndsWhatIsUnderWay(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		for _, c := range []struct {
			name string
			lose func(ranks []*Transport)
			told int // calls of Lost at rank 0
		}{
			{"told from outside", func(ranks []*Transport) {
				ranks[0].Lose(&base.RankError{Rank: 1, Reason: "killed by signal 9"})
			}, 0},
			{"one connection breaks", func(ranks []*Transport) {
				c := ranks[0].conns[ranks[0].cfg.Connections].Load()
				ranks[0].fail(c, errors.New("test"))
			}, 1},
		} {
			t.Run(c.name, func(t *testing.T) {
				const size = 16 << 20
				var lost losses
				ranks := join(t, 2, func(r base.Rank, cfg *Config) {
					change(r, cfg)
					cfg.Connections = 2
					if r == 0 {
						cfg.Lost = lost.note
					}
				})
				own := exposed(t, ranks[0], 1, size)
				exposed(t, ranks[1], 1, 2*size)
				l := linkTo(t, ranks[0], 1)
				_, err := l.conn(t.Context(), 0)
				ok(t, err)
				_, err = l.conn(t.Context(), 1)
				ok(t, err)
				_, _, err = l.Size(1)
				ok(t, err)
				for lane := range 2 {
					stall(t, ranks[1], 0, lane)
				}
				queues := waiting(t, l, transport.Addr{Segment: 1}, own.All().Bytes(), 2)
				blocked := make(chan error, 3)
				go func() { blocked <- l.Flush(context.Background(), queues[0]) }()
				go func() {
					_, err := l.Atomic(context.Background(), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0)
					blocked <- err
				}()
				go func() {
					if err := queues[1].Wait(context.Background(), ranks[0].cfg.WaitPolicy, nil); err != nil {
						blocked <- err
						return
					}
					blocked <- queues[1].Failure()
				}()
				c.lose(ranks)
				for range cap(blocked) {
					select {
					case err := <-blocked:
						isGone(t, "a call that was blocked", err, 1)
					case <-testenv.Context(t).Done():
						t.Fatal("a blocked call never ended")
					}
				}
				isGone(t, "wait", settle(t, queues[0]), 1)
				isGone(t, "put", l.Put(queues[0], transport.Addr{Segment: 1}, own.All()), 1)
				isGone(t, "ping", l.Ping(t.Context()), 1)
				for _, q := range queues {
					if !q.Idle() {
						t.Error("an operation of a lost rank is still under way")
					}
				}
				testenv.Eventually(t, fmt.Sprint("Lost was called times ", c.told), func() bool { return lost.count() == c.told })
			})
		}
	})
}

// A report from outside counts more than the state of a connection.
func TestLoseOverridesABrokenConnection(t *testing.T) {
	ranks := join(t, 2, nil)
	l := linkTo(t, ranks[0], 1)
	ok(t, l.Ping(t.Context()))
	ranks[0].fail(ranks[0].conns[ranks[0].cfg.Connections].Load(), errors.New("test"))
	isGone(t, "ping", l.Ping(t.Context()), 1)
	said := &base.RankError{Rank: 1, Reason: "killed by signal 9"}
	ranks[0].Lose(said)
	ranks[0].Lose(&base.RankError{Rank: 1, Reason: "said again"})
	if err := l.Ping(t.Context()); err != error(said) {
		t.Errorf("%v, want %v", err, said)
	}
}

// A rank that closes leaves: what it issued arrives before, and nobody is told of
// a loss.
func TestCloseDeliversAndSaysGoodbye(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const size = 24 << 20
		var lost losses
		ranks := join(t, 2, func(r base.Rank, cfg *Config) {
			change(r, cfg)
			cfg.Lost = lost.note
		})
		ranks[0].parting = time.Hour // the test ends before
		own, peer := exposed(t, ranks[0], 1, size), exposed(t, ranks[1], 1, size)
		fill(own.All().Bytes(), 3)
		there, back := linkTo(t, ranks[0], 1), linkTo(t, ranks[1], 0)
		ok(t, back.Notify(queueOn(2), transport.Flag{Segment: 1, ID: 1, Value: 1})) // another lane
		awaitNote(t, own, 1)
		ok(t, there.PutNotify(queueOn(0), transport.Addr{Segment: 1}, own.All(), transport.Flag{Segment: 1, ID: 1, Value: 4}))
		ok(t, ranks[0].Close())
		if v := awaitNote(t, peer, 1); v != 4 || !bytes.Equal(peer.All().Bytes(), own.All().Bytes()) {
			t.Errorf("value %d, or other bytes", v)
		}
		testenv.Eventually(t, "the peer knows that the rank has left", func() bool { return back.peer.Err() != nil })
		err := back.Ping(t.Context())
		isGone(t, "ping", err, 0)
		if !strings.Contains(err.Error(), "has closed") {
			t.Errorf("%v; want it to say that the rank has closed its connections", err)
		}
		if n := lost.count(); n != 0 {
			t.Errorf("Lost was called %d times: %v", n, lost.all)
		}
		if err := there.Put(queueOn(0), transport.Addr{Segment: 1}, own.All()); !errors.Is(err, base.ErrClosed) {
			t.Errorf("put after close: %v, want ErrClosed", err)
		}
	})
}

// A peer that takes nothing does not keep a rank from leaving for long, and what
// was under way ends.
func TestCloseDoesNotWaitForThoseWhoDoNotRead(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const size = 16 << 20
		ranks := join(t, 2, change)
		own := exposed(t, ranks[0], 1, size)
		exposed(t, ranks[1], 1, size)
		for _, tr := range ranks {
			tr.parting = 50 * time.Millisecond
		}
		l, q := linkTo(t, ranks[0], 1), queueOn(0)
		ok(t, l.Put(q, transport.Addr{Segment: 1}, spanOf(t, own, 0, 8)))
		stall(t, ranks[1], 0, 0)
		ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
		blocked := make(chan error, 1)
		go func() { blocked <- l.Flush(context.Background(), q) }()
		ok(t, ranks[0].Close())
		ok(t, ranks[0].Close())
		if err := <-blocked; !errors.Is(err, base.ErrClosed) {
			t.Errorf("flush: %v, want ErrClosed", err)
		}
		if err := settle(t, q); !errors.Is(err, base.ErrClosed) {
			t.Errorf("wait: %v, want ErrClosed", err)
		}
	})
}

// Nothing is left: no goroutine, no descriptor.
func TestCloseLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		files := func() int {
			list, err := os.ReadDir("/proc/self/fd")
			ok(t, err)
			return len(list)
		}
		goroutines, descriptors := 0, 0
		for round := range 3 {
			t.Run("round", func(t *testing.T) {
				ranks := join(t, 3, change)
				for r := range ranks {
					s := exposed(t, ranks[r], 1, 64)
					for to := range ranks {
						if to != r {
							ok(t, linkTo(t, ranks[r], base.Rank(to)).Ping(t.Context()))
						}
					}
					_ = s
				}
			})
			// Goroutines that Go's own network code leaves for a moment end by themselves.
			if round == 0 {
				goroutines, descriptors = runtime.NumGoroutine(), files()
				continue
			}
			testenv.Eventually(t, "goroutines and descriptors are as before", func() bool {
				return runtime.NumGoroutine() <= goroutines && files() <= descriptors
			})
		}
	})
}

// A rank that computes and never calls the transport receives and answers.
func TestARankThatOnlyComputes(t *testing.T) {
	ranks := join(t, 2, nil)
	own, peer := exposed(t, ranks[0], 1, 1<<20), exposed(t, ranks[1], 1, 1<<20)
	l, q := linkTo(t, ranks[0], 1), queueOn(0)
	for range 3 {
		ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
		ok(t, l.Flush(testenv.Context(t), q))
		ok(t, l.GetNotify(q, own.All(), transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 1, Value: 1}))
		awaitNote(t, own, 1)
		// Rank 1 has waited a while and then computes: its thread takes over.
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
		if _, err := peer.Notifications().Wait(ctx, notify.Some(5, 1), nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
		old, err := l.Atomic(testenv.Context(t), transport.Addr{Segment: 1, Offset: 8}, transport.FetchAdd, 1, 0)
		ok(t, err)
		_ = old
	}
}

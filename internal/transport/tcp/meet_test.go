package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// All ranks use all lanes to all others at the same moment, so that most pairs
// connect from both sides at once; there must be one connection each.
func TestEverybodyConnectsAtOnce(t *testing.T) {
	testenv.NeedOpenFiles(t, 1024)
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		for range 4 {
			const n, lanes = 5, 2
			var lost losses
			ranks := join(t, n, func(r base.Rank, cfg *Config) {
				change(r, cfg)
				cfg.Connections = lanes
				cfg.Lost = lost.note
			})
			start := make(chan struct{})
			var wg sync.WaitGroup
			for from := range ranks {
				for to := range ranks {
					if to == from {
						continue
					}
					l := linkTo(t, ranks[from], base.Rank(to))
					for lane := range uint32(lanes) {
						wg.Go(func() {
							<-start
							if _, err := l.conn(t.Context(), lane); err != nil {
								t.Errorf("rank %d to %d, lane %d: %v", from, to, lane, err)
							}
						})
					}
				}
			}
			close(start)
			wg.Wait()
			for from := range ranks {
				for to := range ranks {
					if to != from {
						for range lanes {
							ok(t, linkTo(t, ranks[from], base.Rank(to)).Ping(testenv.Context(t)))
						}
					}
				}
			}
			if lost.count() != 0 {
				t.Errorf("ranks were lost: %v", lost.all)
			}
		}
	})
}

func TestPeersThatCannotBeReached(t *testing.T) {
	gone := &base.RankError{Rank: 1, Reason: "it never came"}
	unknown := errors.New("nobody knows")
	nowhere := testenv.FreeAddress(t)
	for _, c := range []struct {
		name   string
		lookup func() (string, error)
		check  func(t *testing.T, err error)
		lost   int
	}{
		{"nobody listens", func() (string, error) { return nowhere + "," + testenv.FreeAddress(t), nil }, func(t *testing.T, err error) {
			isGone(t, "ping", err, 1)
			if !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want it to say why, in one line", err)
			}
		}, 1},
		{"the lookup says it is gone", func() (string, error) { return "", gone }, func(t *testing.T, err error) {
			if err != error(gone) {
				t.Errorf("%v, want %v", err, gone)
			}
		}, 1},
		{"the lookup does not know", func() (string, error) { return "", unknown }, func(t *testing.T, err error) {
			if !errors.Is(err, unknown) || errors.Is(err, base.ErrRankDead) {
				t.Errorf("%v, want %v and no dead rank", err, unknown)
			}
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lost losses
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
				cfg.Lost, cfg.Silence = lost.note, 250*time.Millisecond
				cfg.Lookup = func(context.Context, base.Rank) (string, error) { return c.lookup() }
			})
			l := linkTo(t, ranks[0], 1)
			for range 2 {
				c.check(t, l.Ping(testenv.Context(t)))
			}
			q := queueOn(0)
			c.check(t, l.Notify(q, transport.Flag{Segment: 1, Value: 1}))
			testenv.Eventually(t, "Lost was told", func() bool { return lost.count() == c.lost })
		})
	}
}

// A lookup that did not know is asked again by the next call.
func TestLookupIsRepeated(t *testing.T) {
	var calls atomic.Int32
	var ranks []*Transport
	ranks = join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Lookup = func(_ context.Context, r base.Rank) (string, error) {
			if calls.Add(1) == 1 {
				return "", errors.New("not yet")
			}
			return ranks[r].Address(), nil
		}
	})
	l := linkTo(t, ranks[0], 1)
	if err := l.Ping(testenv.Context(t)); err == nil {
		t.Fatal("a ping without an address")
	}
	ok(t, l.Ping(testenv.Context(t)))
}

// Of several addresses the first that works is used.
func TestSeveralAddresses(t *testing.T) {
	nowhere := testenv.FreeAddress(t)
	var ranks []*Transport
	ranks = join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Lookup = func(_ context.Context, r base.Rank) (string, error) {
			return nowhere + "," + ranks[r].Address(), nil
		}
	})
	ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
}

// An address of one link is told without the zone of this host, and reached by that of the peer.
func TestAddressOfALink(t *testing.T) {
	testenv.OnLink(t, func() {
		own, err := address.Choose("fe80::/10", netip.Addr{})
		ok(t, err)
		ranks := join(t, 2, func(_ base.Rank, cfg *Config) { cfg.Listen = own[:1] })
		if at := ranks[1].Address(); strings.Contains(at, "%") {
			t.Errorf("it is told as %s, with a zone", at)
		}
		ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
	})
}

// A peer that may not connect is refused, without an effect, and the job goes on.
func TestConnectionsThatAreRefused(t *testing.T) {
	key := auth.NewKey()
	ranks := join(t, 3, func(_ base.Rank, cfg *Config) { cfg.Credentials.Key, cfg.Connections = key, 2 })
	good := auth.Hello{Role: auth.RoleLane, Job: "test", From: 2, To: 0, Lane: 1, Version: Version}
	with := func(change func(h *auth.Hello)) auth.Hello { h := good; change(&h); return h }
	for _, c := range []struct {
		name  string
		key   auth.Key
		hello auth.Hello
		want  string
	}{
		{"wrong key", auth.NewKey(), good, "another key"},
		{"another job", key, with(func(h *auth.Hello) { h.Job = "other" }), "this is job test"},
		{"another version", key, with(func(h *auth.Hello) { h.Version++ }), "same version"},
		{"another role", key, with(func(h *auth.Hello) { h.Role = auth.RoleAgent }), "not a agent"},
		{"meant for another rank", key, with(func(h *auth.Hello) { h.To = 1 }), "this is rank 0"},
		{"a rank that does not exist", key, with(func(h *auth.Hello) { h.From = 3 }), "no rank 3 of 3"},
		{"itself", key, with(func(h *auth.Hello) { h.From = 0 }), "no rank 0"},
		{"a lane that does not exist", key, with(func(h *auth.Hello) { h.Lane = 2 }), "no lane 2 of 2"},
		{"a second time", key, with(func(h *auth.Hello) { h.From, h.Lane = 1, 0 }), useMine},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
			conn, err := net.Dial("tcp", ranks[0].Address())
			ok(t, err)
			defer conn.Close()
			want := auth.ErrRefused
			if c.key != key {
				want = auth.ErrUnproven
			}
			if _, err := auth.Client(conn, auth.Credentials{Key: c.key}, c.hello, nil); !errors.Is(err, want) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want a refusal with %q", err, c.want)
			}
			ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
		})
	}
}

// A rank that is to wait for the peer's connection asks once more when its time is over,
// as it is at once where both were suspended.
func TestConnectionThatComesLate(t *testing.T) {
	var lost losses
	var ranks []*Transport
	var once sync.Once
	asked, again := make(chan struct{}), make(chan struct{})
	asks := 0 // of rank 1, one after the other
	ranks = join(t, 2, func(me base.Rank, cfg *Config) {
		cfg.Silence, cfg.Lost = 200*time.Millisecond, lost.note
		cfg.Lookup = func(ctx context.Context, r base.Rank) (string, error) {
			if me == 0 { // it is about to connect until rank 1 has asked once more
				once.Do(func() { close(asked) })
				select {
				case <-again:
				case <-ctx.Done():
				}
			} else if asks++; asks == 2 {
				close(again)
			}
			return ranks[r].Address(), nil
		}
	})
	pinged := make(chan error)
	go func() { pinged <- linkTo(t, ranks[0], 1).Ping(testenv.Context(t)) }()
	<-asked
	ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
	ok(t, <-pinged)
	if lost.count() != 0 {
		t.Errorf("ranks were lost: %v", lost.all)
	}
}

// A rank that gives up a connection after it was let in, as one does whose handshake takes too
// long, is not lost by that, whenever it gives up: it connects again, or is connected to.
func TestConnectionThatIsGivenUp(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		for _, c := range []struct {
			name string
			sent []byte // after the handshake
		}{
			{"after the handshake", nil},
			{"within its first frame", encoded(frame{kind: kindReady})[:headSize/2]},
		} {
			for from := range base.Rank(2) {
				t.Run(fmt.Sprintf("%s, rank %d", c.name, from), func(t *testing.T) {
					var lost losses
					ranks := join(t, 2, func(r base.Rank, cfg *Config) {
						change(r, cfg)
						cfg.Lost = lost.note
					})
					for range 3 {
						conn := letIn(t, ranks[1-from], from)
						_, err := conn.Write(c.sent)
						ok(t, err)
						conn.Close()
					}
					ok(t, linkTo(t, ranks[1-from], from).Ping(testenv.Context(t)))
					ok(t, linkTo(t, ranks[from], 1-from).Ping(testenv.Context(t)))
					if lost.count() != 0 {
						t.Errorf("ranks were lost: %v", lost.all)
					}
				})
			}
		}
	})
}

// A rank that was let in is waited for, for as long as its connection lasts: it may have sent
// kindReady, and used the connection since.
func TestConnectionThatBeginsLate(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const silence = 50 * time.Millisecond
		ranks := join(t, 2, func(r base.Rank, cfg *Config) {
			change(r, cfg)
			cfg.Silence = silence
		})
		conn := letIn(t, ranks[0], 1)
		l := linkTo(t, ranks[0], 1)
		opened := make(chan error, 1)
		go func() {
			_, err := l.conn(testenv.Context(t), 0)
			opened <- err
		}()
		select {
		case err := <-opened:
			t.Fatalf("another connection was made, with the error %v", err)
		case <-time.After(6 * silence):
		}
		ok(t, sendReady(conn))
		ok(t, <-opened)
	})
}

// A peer cannot pile up connections that it does not use, and is not lost by trying: it waits.
func TestConnectionsThatPileUp(t *testing.T) {
	ranks := join(t, 2, nil)
	var last net.Conn
	for range comingMost {
		last = letIn(t, ranks[0], 1)
	}
	raw, err := net.Dial("tcp", ranks[0].Address())
	ok(t, err)
	defer raw.Close()
	hello := auth.Hello{Role: auth.RoleLane, Job: "test", From: 1, To: 0, Lane: 0, Version: Version}
	if _, err := auth.Client(raw, ranks[0].cfg.Credentials, hello, nil); !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), useMine) {
		t.Errorf("connection %d: %v; want a refusal", comingMost+1, err)
	}
	ok(t, last.Close())
	testenv.Eventually(t, "there is room again", func() bool {
		l := ranks[0].links.To(1)
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.channels[0].coming == comingMost-1
	})
	ok(t, linkTo(t, ranks[1], 0).Ping(testenv.Context(t)))
}

// A connection that breaks between the check of its rank and the end of the handshake leaves the
// lane as it was.
func TestHandshakeThatBreaksAfterTheCheck(t *testing.T) {
	ranks := join(t, 2, nil)
	hello := auth.Hello{Role: auth.RoleLane, Job: "test", From: 1, To: 0, Lane: 0, Version: Version}
	ok(t, ranks[0].admit(hello))
	ranks[0].decided(hello)
	ok(t, linkTo(t, ranks[0], 1).Ping(testenv.Context(t)))
}

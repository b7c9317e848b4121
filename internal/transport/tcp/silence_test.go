package tcp

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// hostPair is ranks 0 and 1 on two hosts.
type hostPair struct {
	ranks []*Transport
	lost  [2]chan *base.RankError // index is the rank: what it lost
}

// newHostPair makes the ranks. change may change what each is configured with.
func newHostPair(t *testing.T, hosts []*cluster.Host, change func(r base.Rank, cfg *Config)) *hostPair {
	t.Helper()
	x := &hostPair{lost: [2]chan *base.RankError{make(chan *base.RankError, 1), make(chan *base.RankError, 1)}}
	x.ranks = join(t, 2, func(r base.Rank, cfg *Config) {
		cfg.Listen, cfg.within = []netip.Addr{hosts[r].IPv4}, hosts[r].Within
		cfg.Lost = func(err *base.RankError) { x.lost[r] <- err }
		change(r, cfg)
	})
	return x
}

// reach pings the other rank from rank r until that fails, or once.
func (x *hostPair) reach(ctx context.Context, r base.Rank, once bool) {
	l := x.ranks[r].links.To(1 - r)
	for err := l.Ping(ctx); err == nil && !once; err = l.Ping(ctx) {
	}
}

// loses fails the test unless rank r loses the other one within limit.
func (x *hostPair) loses(t *testing.T, r base.Rank, limit time.Duration) {
	t.Helper()
	select {
	case err := <-x.lost[r]:
		t.Logf("rank %d: %v", r, err)
	case <-time.After(limit):
		t.Errorf("rank %d has lost nobody within %v", r, limit)
	}
}

// twice is a bound for tests: a machine may be busy.
func twice(silence time.Duration) time.Duration { return 2 * transport.LossMost(silence) }

// A peer is lost within transport.LossMost when the way to its host is cut, in both
// directions or in one, whatever goes on between the two.
func TestCutsAreNoticedAcrossHosts(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	const silence = 500 * time.Millisecond
	type use struct {
		name string
		met  bool    // they have a connection before
		busy [2]bool // index is the rank: it goes on reaching the other one
	}
	uses := []use{
		{"first contact", false, [2]bool{true, true}},
		{"idle", true, [2]bool{}},
		{"one is busy", true, [2]bool{true, false}},
		{"both are busy", true, [2]bool{true, true}},
	}
	all := cluster.New(t, 8*len(uses))
	hosts := all.Hosts()
	var cut sync.Mutex
	for _, c := range uses {
		for i, name := range []string{"both ways", "one way", "both ways, TLS", "one way, TLS"} {
			pair := hosts[:2]
			hosts = hosts[2:]
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				x := newHostPair(t, pair, func(_ base.Rank, cfg *Config) { cfg.Silence, cfg.TLS = silence, i >= 2 })
				if c.met {
					ok(t, linkTo(t, x.ranks[0], 1).Ping(testenv.Context(t)))
				}
				var calls sync.WaitGroup
				defer calls.Wait()
				start := func() {
					for r := range base.Rank(2) {
						if c.busy[r] {
							calls.Go(func() { x.reach(testenv.Context(t), r, false) })
						}
					}
				}
				if c.met {
					start()
				}
				cut.Lock()
				if i%2 == 0 {
					all.Partition(pair[0], pair[1])
				} else {
					all.CutOneWay(pair[0], pair[1])
				}
				cut.Unlock()
				if !c.met {
					start()
				}
				x.loses(t, 0, twice(silence))
				x.loses(t, 1, twice(silence))
			})
		}
	}
}

// Where one way is cut, the side that hears nothing tells the other one, which goes on getting
// packets and would be silent about it for as long as it may.
func TestTheOtherSideIsToldOfACutAcrossHosts(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		c := cluster.New(t, 2)
		x := newHostPair(t, c.Hosts(), func(r base.Rank, cfg *Config) {
			change(r, cfg)
			cfg.Silence = []time.Duration{time.Hour, 500 * time.Millisecond}[r]
		})
		ok(t, linkTo(t, x.ranks[0], 1).Ping(testenv.Context(t)))
		var calls sync.WaitGroup
		defer calls.Wait()
		for r := range base.Rank(2) {
			calls.Go(func() { x.reach(testenv.Context(t), r, false) })
		}
		c.CutOneWay(c.Hosts()[0], c.Hosts()[1])
		x.loses(t, 1, generous)
		x.loses(t, 0, generous)
	})
}

// A host that is cut off in the middle of a handshake is silent, although it had answered.
func TestACutEndsAHandshakeAcrossHosts(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	const silence = 500 * time.Millisecond
	c := cluster.New(t, 2)
	here, there := c.Hosts()[0], c.Hosts()[1]
	var l net.Listener
	ok(t, there.Within(func() (err error) {
		l, err = net.Listen("tcp", netip.AddrPortFrom(there.IPv4, 0).String())
		return err
	}))
	defer l.Close()
	x := newHostPair(t, c.Hosts(), func(_ base.Rank, cfg *Config) {
		cfg.Silence = silence
		cfg.Lookup = func(context.Context, base.Rank) (string, error) { return l.Addr().String(), nil }
	})
	var calls sync.WaitGroup
	defer calls.Wait()
	calls.Go(func() { x.reach(testenv.Context(t), 0, true) })
	conn, err := l.Accept()
	ok(t, err)
	defer conn.Close()
	c.Partition(here, there)
	x.loses(t, 0, twice(silence))
}

// The addresses of a rank share the time that its host may be silent for.
func TestAddressesShareTheSilenceAcrossHosts(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
	const silence, addresses = 3 * time.Second, 6
	c := cluster.New(t, 2)
	at := netip.AddrPortFrom(c.Hosts()[1].IPv4, 9).String()
	x := newHostPair(t, c.Hosts(), func(_ base.Rank, cfg *Config) {
		cfg.Silence = silence
		cfg.Lookup = func(context.Context, base.Rank) (string, error) {
			return strings.Repeat(at+",", addresses-1) + at, nil
		}
	})
	c.Partition(c.Hosts()[0], c.Hosts()[1])
	var calls sync.WaitGroup
	defer calls.Wait()
	calls.Go(func() { x.reach(testenv.Context(t), 0, true) })
	x.loses(t, 0, twice(silence))
}

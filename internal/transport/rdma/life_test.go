package rdma

import (
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// lifeNet makes two ranks and what they stand on. heard gets what rank 0 is told of
// lost peers.
func lifeNet(t *testing.T) (ranks []*Transport, nodes []*memoryFabric, heard chan *base.RankError) {
	net := newMemoryNet(t, func(n *memoryNet) { n.promises.localKeys = true })
	heard = make(chan *base.RankError, 4)
	ranks = joinOver(t, 2, func() fabric { return net.open() }, func(cfg *Config) {
		if cfg.Rank == 0 {
			cfg.Lost = func(err *base.RankError) { heard <- err }
		}
	})
	return ranks, net.nodes, heard
}

// A peer that is gone in the middle of puts: they, and all that comes later, end with
// an error that names it, and nothing stays in use.
func TestPeerDiesInTheMiddleOfPuts(t *testing.T) {
	ranks, nodes, heard := lifeNet(t)
	own := exposed(t, ranks[0], 1, 1000)
	exposed(t, ranks[1], 1, 1000)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	at := transport.Addr{Segment: 1}
	ok(t, l.Put(q, at, own.All()))
	ok(t, l.Flush(testenv.Context(t), q))
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		nodes[1].kill()
	}()
	var err error
	for err == nil {
		if err = l.Put(q, at, own.All()); err == nil && q.Size() >= 0 {
			err = q.Failure()
		}
	}
	<-stop
	isGone(t, "put", err, 1)
	_, atomicErr := l.Atomic(testenv.Context(t), at, transport.FetchAdd, 1, 0)
	for what, err := range map[string]error{
		"put": l.Put(q, at, own.All()), "get": l.Get(q, own.All(), at), "ping": l.Ping(testenv.Context(t)), "atomic": atomicErr,
		"flush": l.Flush(testenv.Context(t), q), "notify": l.Notify(q, transport.Flag{Segment: 1, ID: 1, Value: 1}),
	} {
		isGone(t, what, err, 1)
	}
	ok(t, q.Wait(testenv.Context(t), ranks[0].cfg.WaitPolicy, nil))
	select {
	case gone := <-heard:
		isGone(t, "what Lost was told", gone, 1)
	case <-time.After(generous):
		t.Error("Lost was not told")
	}
	ok(t, ranks[0].Withdraw(1)) // waits for nobody
	ok(t, ranks[0].Close())
	if n := len(nodes[0].regions); n != 0 {
		t.Errorf("%d registrations are left", n)
	}
}

// Withdraw does not wait for ever for a peer that is stopped; the memory stays
// registered until that lets go of it.
func TestWithdrawOfWhatAStoppedPeerKnows(t *testing.T) {
	ranks, nodes, _ := lifeNet(t)
	own := exposed(t, ranks[0], 1, 64)
	s := exposed(t, ranks[1], 1, 64)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
	ok(t, l.Flush(testenv.Context(t), q))
	ranks[0].mu.Lock()
	ok(t, ranks[1].Withdraw(1))
	held := func() int {
		nodes[1].net.mu.Lock()
		defer nodes[1].net.mu.Unlock()
		return len(nodes[1].regions)
	}
	if n := held(); n != 1 {
		t.Errorf("%d registrations while the peer is stopped, want 1", n)
	}
	ranks[0].unlock()
	for ctx := testenv.Context(t); held() != 0; {
		if ctx.Err() != nil {
			t.Fatal("the memory stays registered")
		}
		time.Sleep(time.Millisecond) // sleep: nothing tells
	}
	ok(t, s.Close())
	if err := l.Put(q, transport.Addr{Segment: 1}, own.All()); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("a put afterwards: %v, want ErrNoSegment", err)
	}
}

// Operations issued before Close arrive, and peers know that the rank has left.
func TestCloseSendsWhatWasIssued(t *testing.T) {
	ranks, _, _ := lifeNet(t)
	own := exposed(t, ranks[0], 1, 1000)
	s := exposed(t, ranks[1], 1, 1000)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	fill(own.All().Bytes(), 3)
	for range 500 {
		ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
	}
	ok(t, l.Notify(q, transport.Flag{Segment: 1, ID: 2, Value: 7}))
	ok(t, ranks[0].Close())
	ok(t, ranks[0].Close())
	if v := awaitNote(t, s, 2); v != 7 {
		t.Errorf("value %d, want 7", v)
	}
	if string(s.All().Bytes()) != string(own.All().Bytes()) {
		t.Error("other bytes arrived")
	}
	for ctx := testenv.Context(t); ranks[1].Hears(0); {
		if ctx.Err() != nil {
			t.Fatal("it does not know that the peer has left")
		}
		time.Sleep(time.Millisecond) // sleep: nothing tells
	}
	isGone(t, "ping", linkTo(t, ranks[1], 0).Ping(testenv.Context(t)), 0)
	if err := l.Put(q, transport.Addr{Segment: 1}, segment.Span{}); !errors.Is(err, base.ErrClosed) {
		t.Errorf("a put after Close: %v, want ErrClosed", err)
	}
}

// The endpoint breaks: everything ends, and Close does too.
func TestEndpointBreaks(t *testing.T) {
	ranks, nodes, _ := lifeNet(t)
	exposed(t, ranks[1], 1, 64)
	l := linkTo(t, ranks[0], 1)
	ok(t, l.Ping(testenv.Context(t)))
	nodes[0].net.mu.Lock()
	nodes[0].told = append(nodes[0].told, completion{kind: eventBroken, err: errNobody})
	nodes[0].wakeLocked()
	nodes[0].net.mu.Unlock()
	var err error
	for ctx := testenv.Context(t); err == nil && ctx.Err() == nil; {
		err = l.Ping(testenv.Context(t))
	}
	isGone(t, "ping", err, 1)
}

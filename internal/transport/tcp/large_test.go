package tcp

import (
	"bytes"
	"fmt"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Transfers of which the socket takes only a part at a time.

func TestLargeTransfers(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const size = 12 << 20
		ranks := join(t, 2, change)
		own, peer := exposed(t, ranks[0], 1, size), exposed(t, ranks[1], 1, size)
		l, q := linkTo(t, ranks[0], 1), queueOn(1)
		for i, n := range []uint64{size, pieceMost, pieceMost + 1, directMost - headSize, directMost + 1, scratchSize - headSize, scratchSize, 3<<20 + 7} {
			fill(own.All().Bytes(), uint64(i))
			clear(peer.All().Bytes())
			at := transport.Addr{Segment: 1, Offset: (size - n) / 2}
			src := spanOf(t, own, size-n, n)
			ok(t, l.PutNotify(q, at, src, transport.Flag{Segment: 1, ID: 3, Value: 7}))
			ok(t, settle(t, q))
			awaitNote(t, peer, 3)
			want := make([]byte, size)
			copy(want[at.Offset:], src.Bytes())
			if !bytes.Equal(peer.All().Bytes(), want) {
				t.Fatalf("a put of %d bytes brought something else", n)
			}
			clear(own.All().Bytes())
			ok(t, l.Get(q, spanOf(t, own, 0, n), at))
			ok(t, settle(t, q))
			if got := own.All().Bytes(); !bytes.Equal(got[:n], want[at.Offset:at.Offset+n]) || !bytes.Equal(got[n:], make([]byte, size-n)) {
				t.Fatalf("a get of %d bytes brought something else", n)
			}
		}
	})
}

// The socket takes nothing while the peer does not read, so that everything waits
// on this side in records; their sources are not copied.
func TestPendingPutsEndInOrder(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const big, small, n = 16 << 20, 64, 200
		ranks := join(t, 2, change)
		own, peer := exposed(t, ranks[0], 1, big), exposed(t, ranks[1], 1, big+small*n)
		fill(own.All().Bytes(), 1)
		l, q := linkTo(t, ranks[0], 1), queueOn(0)
		ok(t, l.Ping(t.Context()))
		resume := stall(t, ranks[1], 0, 0)
		l.knowSegment(ranks[1], 1)
		ok(t, l.Put(q, transport.Addr{Segment: 1}, own.All()))
		for i := range uint64(n) {
			ok(t, l.PutNotify(q, transport.Addr{Segment: 1, Offset: big + i*small}, spanOf(t, own, i*small, small),
				transport.Flag{Segment: 1, ID: 1, Value: 1, Add: true}))
		}
		ok(t, l.Notify(q, transport.Flag{Segment: 1, ID: 0, Value: 9}))
		if q.Idle() {
			t.Fatal("a peer that reads nothing took 16 MiB")
		}
		resume()
		ok(t, settle(t, q))
		awaitNote(t, peer, 0)
		if v := peer.Notifications().Load(1); v != n {
			t.Errorf("%d notifications before the fence, want %d", v, n)
		}
		if got := peer.All().Bytes(); !bytes.Equal(got[:big], own.All().Bytes()) || !bytes.Equal(got[big:], own.All().Bytes()[:small*n]) {
			t.Error("other bytes arrived")
		}
	})
}

// knowSegment gives l the descriptor of segment id without a request, for a peer that does
// not reply.
func (l *link) knowSegment(peer *Transport, id segment.ID) {
	x := peer.registry.At(id)
	l.segments.Set(id, &remote.Descriptor{Generation: x.Generation, Size: uint64(len(x.Data)), Notifications: x.Notifications.Len()})
}

// More gets than may be asked at a time; notifications come behind all before.
func TestManyGets(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const n, size = 3 * pendingMost, 512
		ranks := join(t, 2, change)
		own, peer := exposed(t, ranks[0], 1, n*size), exposed(t, ranks[1], 1, n*size)
		fill(peer.All().Bytes(), 2)
		l, q := linkTo(t, ranks[0], 1), queueOn(0)
		ok(t, l.Ping(t.Context()))
		l.knowSegment(ranks[1], 1)
		resume := stall(t, ranks[1], 0, 0)
		for i := range uint64(n) {
			at := transport.Addr{Segment: 1, Offset: i * size}
			dst := spanOf(t, own, i*size, size)
			if i == n-1 {
				ok(t, l.GetNotify(q, dst, at, own.Notifications(), transport.Flag{ID: 1, Value: 1}))
			} else {
				ok(t, l.Get(q, dst, at))
			}
		}
		ok(t, l.GetNotify(q, spanOf(t, own, 0, 0), transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 2, Value: 5}))
		ok(t, l.GetNotify(q, spanOf(t, own, 0, 0), transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 3, Value: 6}))
		if own.Notifications().Load(2) != 0 {
			t.Fatal("a notification came before the gets ahead of it")
		}
		resume()
		awaitNote(t, own, 1)
		if !bytes.Equal(own.All().Bytes(), peer.All().Bytes()) {
			t.Error("other bytes, or not all, when the notification came")
		}
		awaitNote(t, own, 2)
		awaitNote(t, own, 3)
		ok(t, settle(t, q))
		if !q.Idle() {
			t.Error("the queue is not idle in the end")
		}
	})
}

// A big transfer on one lane and small ones on another, between the same ranks.
func TestBigTransfersDoNotHoldUpSmallOnes(t *testing.T) {
	const big, parts, least = 8 << 20, 24, 20
	ranks := join(t, 2, nil)
	own, peer := exposed(t, ranks[0], 1, big), exposed(t, ranks[1], 1, big+8)
	l := linkTo(t, ranks[0], 1)
	bulk, quick := queueOn(0), queueOn(1)
	small := spanOf(t, own, 0, 8)
	flag := transport.Flag{Segment: 1, ID: 0, Value: 1}
	round := func() {
		ok(t, l.PutNotify(quick, transport.Addr{Segment: 1, Offset: big}, small, flag))
		awaitNote(t, peer, 0)
	}
	round()
	for range parts {
		ok(t, l.Put(bulk, transport.Addr{Segment: 1}, own.All()))
	}
	rounds := 0
	for ; !bulk.Idle() && rounds < least; rounds++ {
		round()
	}
	if rounds < least {
		t.Errorf("only %d small transfers ended before %d MiB on another lane did", rounds, big*parts>>20)
	}
	ok(t, settle(t, bulk))
}

// Everybody writes to everybody on all lanes, and all of it arrives.
func TestTraffic(t *testing.T) {
	both(t, func(t *testing.T, change func(base.Rank, *Config)) {
		const n, rounds, size = 4, 60, 40_000
		ranks := join(t, n, change)
		var failed atomic.Bool
		var done = make(chan error, n)
		for r := range ranks {
			exposed(t, ranks[r], 1, n*size)
			exposed(t, ranks[r], 2, size)
		}
		for r := range ranks {
			go func() { done <- chatter(ranks[r], base.Rank(r), n, rounds, size) }()
		}
		for range ranks {
			if err := <-done; err != nil && failed.CompareAndSwap(false, true) {
				t.Fatal(err)
			}
		}
	})
}

// chatter is one rank of TestTraffic: in each round it puts to all others, on a
// lane that changes, and checks what they put.
func chatter(tr *Transport, me base.Rank, n, rounds int, size uint64) error {
	in, out := tr.registry.At(1).Segment, tr.registry.At(2).Segment
	ctx := tr.ctx
	for round := range rounds {
		q := queueOn(round)
		length := size - uint64(round*(int(me)+1))
		for i := range out.All().Bytes() {
			out.All().Bytes()[i] = byte(round + int(me))
		}
		src, err := out.Span(0, length)
		if err != nil {
			return err
		}
		for r := range base.Rank(n) {
			l, err := tr.Link(r)
			if err != nil {
				return err
			}
			at := transport.Addr{Segment: 1, Offset: uint64(me) * size}
			if err := l.PutNotify(q, at, src, transport.Flag{Segment: 1, ID: notify.ID(me), Value: 1, Add: true}); err != nil {
				return err
			}
		}
		for r := range n {
			value := notify.Value(round + 1)
			if _, err := in.Notifications().Wait(ctx, notify.Until(notify.ID(r), notify.AtLeast, value), nil, nil); err != nil {
				return err
			}
			got := in.All().Bytes()[uint64(r)*size:][:size-uint64(round*(r+1))]
			if want := byte(round + r); bytes.Count(got, []byte{want}) != len(got) {
				return fmt.Errorf("round %d: rank %d found other bytes of rank %d", round, me, r)
			}
		}
		if err := q.Wait(ctx, tr.cfg.WaitPolicy, nil); err != nil {
			return err
		}
		if err := q.Failure(); err != nil {
			return err
		}
		if err := agree(tr, me, n, round); err != nil {
			return err
		}
	}
	return nil
}

// agree is a barrier.
func agree(tr *Transport, me base.Rank, n, round int) error {
	in := tr.registry.At(1).Segment
	for r := range base.Rank(n) {
		l, err := tr.Link(r)
		if err != nil {
			return err
		}
		if err := l.Notify(queueOn(3), transport.Flag{Segment: 1, ID: 8, Value: 1, Add: true}); err != nil {
			return err
		}
	}
	_, err := in.Notifications().Wait(tr.ctx, notify.Until(8, notify.AtLeast, notify.Value(n*(round+1))), nil, nil)
	return err
}

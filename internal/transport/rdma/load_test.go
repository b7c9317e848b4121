package rdma

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Many more operations than the fabric takes at a time: they wait in order, complete,
// and everything is given back.
func thousandsOutstanding(t *testing.T, ranks []*Transport, puts int) {
	const size = 200
	own, peer := exposed(t, ranks[0], 1, size), exposed(t, ranks[1], 1, size)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	sources, err := segment.New(uint64(puts)*size, 1, ranks[0].cfg.WaitPolicy)
	ok(t, err)
	for i := range uint64(puts) {
		src := spanOf(t, sources, i*size, size)
		fill(src.Bytes(), int(i))
		ok(t, l.Put(q, transport.Addr{Segment: 1}, src))
		ok(t, l.Notify(q, transport.Flag{Segment: 1, ID: 3, Value: 1, Add: true}))
	}
	ok(t, l.PutNotify(q, transport.Addr{Segment: 1}, spanOf(t, sources, 0, size), transport.Flag{Segment: 1, ID: 4, Value: 9}))
	ok(t, settle(t, q, ranks[0]))
	awaitNote(t, peer, 4)
	ok(t, l.Flush(testenv.Context(t), q))
	if v := peer.Notifications().Load(3); v != notify.Value(puts) {
		t.Errorf("%d notifications were added, want %d", v, puts)
	}
	if want := sources.All().Bytes()[:size]; !bytes.Equal(peer.All().Bytes(), want) {
		t.Error("the last write does not show")
	}
	for range puts / 2 {
		ok(t, l.Get(q, spanOf(t, own, 0, size), transport.Addr{Segment: 1}))
	}
	ok(t, l.GetNotify(q, spanOf(t, own, 0, size), transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 5, Value: 1}))
	ok(t, l.GetNotify(q, segment.Span{}, transport.Addr{Segment: 1}, own.Notifications(), transport.Flag{ID: 6, Value: 1}))
	awaitNote(t, own, 5)
	awaitNote(t, own, 6)
	ok(t, settle(t, q, ranks[0]))
	ranks[0].lock()
	defer ranks[0].unlock()
	if !ranks[0].isIdleLocked() {
		t.Error("something is still under way")
	}
}

// Transfers that the fabric takes in pieces only.
func hugeTransfer(t *testing.T, ranks []*Transport, size uint64) {
	own, peer := exposed(t, ranks[0], 1, size+100), exposed(t, ranks[1], 1, size+100)
	l, q := linkTo(t, ranks[0], 1), newQueue()
	src := spanOf(t, own, 50, size)
	fill(src.Bytes(), 1)
	ok(t, l.PutNotify(q, transport.Addr{Segment: 1, Offset: 7}, src, transport.Flag{Segment: 1, ID: 1, Value: 1 << 31}))
	if v := awaitNote(t, peer, 1); v != 1<<31 {
		t.Errorf("value %d, want 1<<31", v)
	}
	if !bytes.Equal(peer.All().Bytes()[7:7+size], src.Bytes()) {
		t.Fatal("other bytes arrived")
	}
	ok(t, settle(t, q, ranks[0]))
	clear(own.All().Bytes())
	ok(t, l.GetNotify(q, src, transport.Addr{Segment: 1, Offset: 7}, own.Notifications(), transport.Flag{ID: 2, Value: 1}))
	awaitNote(t, own, 2)
	if !bytes.Equal(peer.All().Bytes()[7:7+size], src.Bytes()) {
		t.Fatal("other bytes were read")
	}
	ok(t, settle(t, q, ranks[0]))
}

// Many segments come, are used, and go; their registrations go with them.
func manySegments(t *testing.T, ranks []*Transport, count int) {
	own := exposed(t, ranks[0], 0, 64)
	before := registrations(ranks[1])
	l, q := linkTo(t, ranks[0], 1), newQueue()
	all := make([]*segment.Segment, count)
	for round := range 2 {
		for i := range all {
			all[i] = exposed(t, ranks[1], segment.ID(i), 4096)
			f := transport.Flag{Segment: segment.ID(i), ID: 15, Value: notify.Value(i + 1)}
			ok(t, l.PutNotify(q, transport.Addr{Segment: segment.ID(i), Offset: 8}, own.All(), f))
		}
		for i, s := range all {
			if v := awaitNote(t, s, 15); v != notify.Value(i+1) {
				t.Errorf("round %d: segment %d has value %d", round, i, v)
			}
		}
		for i, s := range all {
			ok(t, ranks[1].Withdraw(segment.ID(i)))
			ok(t, s.Close())
		}
	}
	if after := registrations(ranks[1]); after != before {
		t.Errorf("%d registrations are left of %d segments", after-before, count)
	}
}

func registrations(tr *Transport) int {
	tr.lock()
	defer tr.unlock()
	return len(tr.memory.all) + len(tr.deferred)
}

// Each rank finds all others and tells the next one, all at the same time.
func allMeet(t *testing.T, ranks []*Transport) {
	segs := make([]*segment.Segment, len(ranks))
	for r, tr := range ranks {
		segs[r] = exposed(t, tr, 0, 64)
	}
	var wg sync.WaitGroup
	for r, tr := range ranks {
		wg.Go(func() {
			for _, to := range []int{(r + 1) % len(ranks), (r + len(ranks)/2) % len(ranks)} {
				l, q := linkTo(t, tr, base.Rank(to)), newQueue()
				f := transport.Flag{Segment: 0, ID: 2, Value: 1, Add: true}
				if err := l.PutNotify(q, transport.Addr{}, spanOf(t, segs[r], 0, 8), f); err != nil {
					t.Errorf("rank %d to %d: %v", r, to, err)
				}
			}
		})
	}
	wg.Wait()
	for r, s := range segs {
		if _, err := s.Notifications().Wait(testenv.Context(t), notify.Until(2, notify.AtLeast, 2), nil, nil); err != nil {
			t.Fatalf("rank %d has heard %d of 2: %v", r, s.Notifications().Load(2), err)
		}
	}
	first := ranks[0]
	for r := 1; r < len(ranks); r++ {
		if err := linkTo(t, first, base.Rank(r)).Ping(testenv.Context(t)); err != nil {
			t.Errorf("ping of rank %d: %v", r, err)
		}
	}
}

func TestThousandsOutstandingInMemory(t *testing.T) {
	for _, inFlight := range []int{1, 1024} {
		t.Run(fmt.Sprint(inFlight), func(t *testing.T) {
			net := newMemoryNet(t, func(n *memoryNet) { n.promises.inFlight, n.promises.localKeys = inFlight, true })
			thousandsOutstanding(t, joinOver(t, 2, func() fabric { return net.open() }), 1000)
		})
	}
}

func TestHugeTransferInMemory(t *testing.T) {
	for _, ordered := range []uint64{0, 70_000, 1 << 40} {
		t.Run(fmt.Sprintf("order up to %d", ordered), func(t *testing.T) {
			net := newMemoryNet(t, func(n *memoryNet) {
				n.promises.transfer, n.promises.orderedWrites, n.promises.dataBits, n.promises.inFlight = 100_001, ordered, 32, 5
			})
			hugeTransfer(t, joinOver(t, 2, func() fabric { return net.open() }), 1<<20+3)
		})
	}
}

func TestManySegmentsInMemory(t *testing.T) {
	net := newMemoryNet(t, func(n *memoryNet) { n.promises.dataBits = 32 })
	const count = 300 // more than there are pages of flags
	manySegments(t, joinOver(t, 2, func() fabric { return net.open() }, func(cfg *Config) { cfg.IDs = count }), count)
}

func TestManyRanksMeetInMemory(t *testing.T) {
	testenv.NeedOpenFiles(t, 1024)
	net := newMemoryNet(t, nil)
	allMeet(t, joinOver(t, 64, func() fabric { return net.open() }))
}

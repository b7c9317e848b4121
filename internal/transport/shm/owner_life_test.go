package shm

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

func TestBoundSegmentWithdrawn(t *testing.T) {
	ranks := join(t, 2)
	first, second := make([]byte, 3*bounceBytes), make([]byte, 3*bounceBytes)
	bind(t, ranks[1], 0, first)
	l := link(t, ranks[0], 1)
	src := local(t, bytes.Repeat([]byte{7}, 3*bounceBytes))
	if err := l.Put(queue, transport.Addr{}, src); err != nil {
		t.Fatal(err)
	}
	stale := l.bound[0] // as a sender holds it that is in the middle of a put
	if err := ranks[1].Withdraw(0); err != nil {
		t.Fatal(err)
	}
	if err := l.Put(queue, transport.Addr{}, src); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("put to what was withdrawn: %v", err)
	}
	bind(t, ranks[1], 0, second)
	if err := stale.transfer(opPut, 0, src.Bytes()); !errors.Is(err, base.ErrNoSegment) {
		t.Errorf("put that was meant for the first segment: %v", err)
	}
	if !bytes.Equal(second, make([]byte, len(second))) {
		t.Error("what was meant for the first segment landed in the second")
	}
	if err := l.Put(queue, transport.Addr{}, src); err != nil || !bytes.Equal(first, second) {
		t.Errorf("put to the second segment: %v", err)
	}
	// The id may change its kind, too.
	mapped, err := segment.Create(16, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	ranks[1].Withdraw(0)
	expose(t, ranks[1], 0, mapped)
	part, _ := src.Sub(0, 16)
	if err := l.Put(queue, transport.Addr{}, part); err != nil || mapped.All().Bytes()[15] != 7 {
		t.Errorf("put to a mapped segment of the same id: %v", err)
	}
	ranks[1].Withdraw(0)
	bind(t, ranks[1], 0, make([]byte, 5))
	if n, _, err := l.Size(0); n != 5 || err != nil {
		t.Errorf("size %d, %v; want that of the bound segment, 5", n, err)
	}
}

// After Withdraw has returned, the memory is its owner's alone, whatever peers do
// meanwhile.
func TestWithdrawnMemoryIsLeftAlone(t *testing.T) {
	ranks := join(t, 2)
	l := link(t, ranks[0], 1)
	var stop atomic.Bool
	var landed atomic.Int64
	var peers sync.WaitGroup
	for range 3 {
		src := local(t, bytes.Repeat([]byte{7}, 5*bounceBytes/2))
		peers.Go(func() {
			for !stop.Load() {
				switch err := l.Put(queue, transport.Addr{}, src); {
				case err == nil:
					landed.Add(1)
				case errors.Is(err, base.ErrNoSegment):
					runtime.Gosched()
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	mem := make([]byte, 5*bounceBytes/2)
	mine := bytes.Repeat([]byte{1}, len(mem))
	for round := 0; round < 200 || landed.Load() < 100; round++ {
		s := bind(t, ranks[1], 0, mem)
		for before := landed.Load(); round%2 == 0 && landed.Load() == before; {
			runtime.Gosched()
		}
		if err := ranks[1].Withdraw(0); err != nil {
			t.Fatal(err)
		}
		s.Close()
		copy(mem, mine)
		for range 10 {
			runtime.Gosched()
		}
		if !bytes.Equal(mem, mine) {
			t.Fatalf("round %d: a peer wrote to memory that was withdrawn", round)
		}
	}
	stop.Store(true)
	peers.Wait()
}

// An operation that the owner has begun is finished, whatever becomes of the
// caller's context: it must not be applied and fail. (Where the test looks between
// the two steps of the request, the owner has not begun, and the caller may win.)
func TestAtomicThatTheOwnerHasBegunIsFinished(t *testing.T) {
	ranks := join(t, 2)
	s := bind(t, ranks[1], 0, make([]byte, 8))
	l := link(t, ranks[0], 1)
	ctx, cancel := context.WithCancel(t.Context())
	o := ranks[1].owner
	ended := make(chan error)
	o.mu.Lock()
	go func() {
		_, err := l.Atomic(ctx, transport.Addr{}, transport.FetchAdd, 1, 0)
		ended <- err
	}()
	for taken := func() bool {
		lane := l.lane.Load()
		if lane == nil {
			return false
		}
		for _, s := range lane.all {
			if s.request[0].Load() != 0 && o.file.Notifications().Load(s.id) == 0 {
				return true
			}
		}
		return false
	}; !taken(); {
		runtime.Gosched()
	}
	cancel()
	o.mu.Unlock()
	err := <-ended
	word, _ := s.Word(0)
	if done := word.Load() == 1; done != (err == nil) {
		t.Errorf("the atomic ended with %v and was applied: %v", err, done)
	}
}

func TestCloseEndsServiceAndWaits(t *testing.T) {
	ranks := join(t, 2)
	if ranks[1].owner != nil {
		t.Error("a rank serves although it has bound nothing")
	}
	bind(t, ranks[1], 0, make([]byte, 64))
	l := link(t, ranks[0], 1)
	src := local(t, make([]byte, 8))
	if err := l.Put(queue, transport.Addr{}, src); err != nil {
		t.Fatal(err)
	}
	stale := l.bound[0]
	o := ranks[1].owner

	// The caller's side closes while the owner is at work: the wait ends.
	o.mu.Lock()
	ended := make(chan error)
	go func() { ended <- l.Put(queue, transport.Addr{}, src) }()
	for len(stale.lane.free) == stationsPerPeer {
		runtime.Gosched()
	}
	ranks[0].Close()
	if err := <-ended; !errors.Is(err, base.ErrClosed) {
		t.Errorf("a put ended with %v when its transport closed", err)
	}
	o.mu.Unlock()

	ranks[1].Close()
	ranks[1].Close()
	select {
	case <-o.done:
	default:
		t.Error("Close returned before its goroutine had ended")
	}
	if err := ranks[1].Expose(1, src.Segment()); !errors.Is(err, base.ErrClosed) {
		t.Errorf("expose after close: %v", err)
	}
}

// A caller that was about to ask when the owner closed is told that it has left.
func TestRequestAfterTheOwnerClosed(t *testing.T) {
	ranks := join(t, 2)
	bind(t, ranks[1], 0, make([]byte, 64))
	l := link(t, ranks[0], 1)
	src := local(t, make([]byte, 8))
	if err := l.Put(queue, transport.Addr{}, src); err != nil {
		t.Fatal(err)
	}
	stale := l.bound[0]
	ranks[1].Close()
	for range 2 * stationsPerPeer {
		if err := stale.transfer(opPut, 0, src.Bytes()); !errors.Is(err, base.ErrRankDead) {
			t.Errorf("a put ended with %v", err)
		}
	}
	if err := l.Put(queue, transport.Addr{}, src); !errors.Is(err, base.ErrRankDead) {
		t.Errorf("a put ended with %v", err)
	}
}

package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/memory"
	"github.com/gaspi-go/gaspi-go/notify"
)

// ways are the ways to make a segment of size bytes with 64 notifications.
func ways() map[string]func(size uint64) (*Segment, error) {
	wait := notify.GoroutineWait(0, 0)
	return map[string]func(uint64) (*Segment, error){
		"Create":     func(n uint64) (*Segment, error) { return Create(n, 64, wait) },
		"New":        func(n uint64) (*Segment, error) { return New(n, 64, wait) },
		"Reserve":    func(n uint64) (*Segment, error) { return Reserve(n, 64, wait) },
		"Bind":       func(n uint64) (*Segment, error) { return Bind(heap(n), 64, wait) },
		"BindShared": func(n uint64) (*Segment, error) { return BindShared(heap(n), 64, wait) },
	}
}

// eachWay runs test on a segment of size bytes, made in each way.
func eachWay(t *testing.T, size uint64, test func(t *testing.T, s *Segment)) {
	for name, make := range ways() {
		t.Run(name, func(t *testing.T) {
			s, err := make(size)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			test(t, s)
		})
	}
}

func TestNewSegmentIsZeroAndAsLargeAsAsked(t *testing.T) {
	for _, size := range []uint64{1, 7, 8, 4095, 4096, 4097, 1 << 20, 5 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			eachWay(t, size, func(t *testing.T, s *Segment) {
				all := s.All()
				if s.Size() != size || all.Len() != size || uint64(len(all.Bytes())) != size {
					t.Fatalf("size %d, span %d, memory %d; want %d", s.Size(), all.Len(), len(all.Bytes()), size)
				}
				if cap(all.Bytes()) != len(all.Bytes()) {
					t.Errorf("the memory can be grown by append to %d bytes, over what lies behind", cap(all.Bytes()))
				}
				if !bytes.Equal(all.Bytes(), make([]byte, size)) {
					t.Error("not zeroed")
				}
				if n := s.Notifications().Len(); n != 64 {
					t.Errorf("%d notifications, want 64", n)
				}
				for id := range notify.ID(64) {
					if v := s.Notifications().Load(id); v != 0 {
						t.Errorf("notification %d is %d", id, v)
					}
				}
			})
		})
	}
}

func TestBoundsAreSafeFromOverflow(t *testing.T) {
	const size, top = 100, math.MaxUint64
	for _, c := range []struct {
		offset, n uint64
		ok        bool
	}{
		{0, 0, true}, {0, size, true}, {99, 1, true}, {size, 0, true}, {40, 60, true},
		{0, size + 1, false}, {99, 2, false}, {size, 1, false}, {size + 1, 0, false},
		{top, 0, false}, {top, 1, false}, {top - 3, 8, false}, {1, top, false}, {top, top, false},
		{1 << 63, 1 << 63, false}, {top - size + 1, size, false},
	} {
		eachWay(t, size, func(t *testing.T, s *Segment) {
			x, err := s.Span(c.offset, c.n)
			if (err == nil) != c.ok || !c.ok && !errors.Is(err, base.ErrOutOfRange) {
				t.Errorf("span [%d:+%d] of %d: %v, want it to be possible: %v", c.offset, c.n, size, err, c.ok)
			}
			if _, berr := s.Bytes(c.offset, c.n); (berr == nil) != c.ok {
				t.Errorf("bytes [%d:+%d] of %d: %v", c.offset, c.n, size, berr)
			}
			if c.ok && (x.Offset() != c.offset || x.Len() != c.n || uint64(len(x.Bytes())) != c.n || uint64(cap(x.Bytes())) != c.n) {
				t.Errorf("span [%d:+%d] is %v with %d bytes, capacity %d", c.offset, c.n, x, len(x.Bytes()), cap(x.Bytes()))
			}
			if _, serr := s.All().Sub(c.offset, c.n); (serr == nil) != c.ok {
				t.Errorf("sub [%d:+%d] of a span of %d: %v", c.offset, c.n, size, serr)
			}
		})
	}
}

func TestSubOfASpanStaysInIt(t *testing.T) {
	s, err := New(100, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := s.Span(20, 30)
	y, err := x.Sub(10, 20)
	if err != nil || y.Offset() != 30 || y.Len() != 20 || y.Segment() != s {
		t.Errorf("got %v, %v; want [30:+20]", y, err)
	}
	if _, err := x.Sub(10, 21); !errors.Is(err, base.ErrOutOfRange) {
		t.Errorf("one byte beyond the span, within the segment: %v", err)
	}
	y.Bytes()[0] = 9
	if s.All().Bytes()[30] != 9 {
		t.Error("a span of a span is other memory")
	}
}

func TestZeroSpanIsEmpty(t *testing.T) {
	var x Span
	if x.Len() != 0 || x.Segment() != nil || x.Bytes() != nil {
		t.Errorf("%v, segment %v, bytes %v", x, x.Segment(), x.Bytes())
	}
	if _, err := x.Sub(0, 1); !errors.Is(err, base.ErrOutOfRange) {
		t.Errorf("a byte of it: %v", err)
	}
}

func TestSizesThatNoSegmentHas(t *testing.T) {
	for name, make := range ways() {
		if s, err := make(0); err == nil {
			t.Errorf("%s of 0 bytes: %v", name, s)
		}
	}
	for _, size := range []uint64{1<<46 + 1, math.MaxUint64} {
		if s, err := Create(size, 64, nil); err == nil {
			t.Errorf("Create of %d bytes: %v", size, s)
		}
	}
}

func TestNewIsRefusedMoreThanTheSystemHas(t *testing.T) {
	if s, err := New(sizeMax, 64, nil); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("New of %d bytes: %v, %v", uint64(sizeMax), s, err)
	}
}

// open opens a memory file as another process does, on a second descriptor.
func open(t *testing.T, s *Segment, size uint64, notifications uint32) (*Segment, error) {
	t.Helper()
	fd, err := memory.OpenPeer(os.Getpid(), s.File())
	if err != nil {
		t.Fatal(err)
	}
	return Open(fd, size, notifications)
}

func TestOpenMapsTheSameMemory(t *testing.T) {
	s, err := Create(10_000, 100, notify.ProcessWait(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	peer, err := open(t, s, 10_000, 100)
	if err != nil {
		t.Fatal(err)
	}
	peer.All().Bytes()[9_999] = 5
	peer.Notifications().Set(99, 7)
	if got := s.All().Bytes()[9_999]; got != 5 {
		t.Errorf("byte %d, want 5", got)
	}
	if id, err := s.Notifications().Wait(t.Context(), notify.Some(0, 100), nil, nil); err != nil || id != 99 {
		t.Errorf("notification %d, %v; want 99", id, err)
	}
	if _, err := open(t, s, 20_000, 100); err == nil {
		t.Error("a peer could open more bytes than the file has")
	}
	if _, err := open(t, s, 0, 100); err == nil {
		t.Error("a peer could open no bytes")
	}
}

// createAndOpen returns a segment as its owner and as a peer have it.
func createAndOpen(t *testing.T) (owner, peer *Segment) {
	t.Helper()
	owner, err := Create(4096, 64, nil)
	if err == nil {
		peer, err = open(t, owner, 4096, 64)
	}
	if err != nil {
		t.Fatal(err)
	}
	return owner, peer
}

// A straggler writes to a segment that its owner has closed: it hits memory
// that belongs to nobody, not an error of the processor.
func TestMemoryStaysMappedAfterClose(t *testing.T) {
	s, peer := createAndOpen(t)
	span := s.All()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	peer.All().Bytes()[0] = 1
	peer.Notifications().Set(63, 1)
	span.Bytes()[1] = 1
}

// A process that has mapped a segment finds zeros there after Close, and the same as before after Leave.
func TestMemoryStaysMappedAfterCloseOrLeave(t *testing.T) {
	for want, end := range []func(s *Segment) error{(*Segment).Close, (*Segment).Leave} {
		s, peer := createAndOpen(t)
		s.All().Bytes()[4095] = 1
		if err := end(s); err != nil {
			t.Fatal(err)
		}
		if got := peer.All().Bytes()[4095]; int(got) != want || !s.Closed() {
			t.Errorf("byte %d, want %d; closed: %v", got, want, s.Closed())
		}
	}
}

func TestCloseIsIdempotentAndLeavesNoDescriptor(t *testing.T) {
	before := descriptors(t)
	eachWay(t, 5000, func(t *testing.T, s *Segment) {
		if s.Closed() {
			t.Error("closed from the start")
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if !s.Closed() {
			t.Error("not closed")
		}
		if _, err := s.Notifications().Wait(t.Context(), notify.Some(0, 1), nil, nil); !errors.Is(err, base.ErrClosed) {
			t.Errorf("wait on a closed segment: %v", err)
		}
	})
	if _, err := BindShared(nil, 64, nil); err == nil {
		t.Error("BindShared of no memory was possible")
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors, %d before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestBindUsesTheCallersMemory(t *testing.T) {
	for _, name := range []string{"Bind", "BindShared"} {
		bind := Bind
		if name == "BindShared" {
			bind = BindShared
		}
		mem := make([]byte, 64, 128)
		s, err := bind(mem, 16, nil)
		if err != nil {
			t.Fatal(err)
		}
		mem[3] = 7
		s.All().Bytes()[4] = 8
		if s.All().Bytes()[3] != 7 || mem[4] != 8 {
			t.Errorf("%s: the memory is not the caller's", name)
		}
		if got := cap(s.All().Bytes()); got != 64 {
			t.Errorf("%s: capacity %d reaches beyond what was bound", name, got)
		}
		s.Close()
	}
}

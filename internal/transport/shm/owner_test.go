package shm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// The ranks of these tests are transports of one process: they reach each other
// through memory files as processes do, and the test can look at both sides. The
// same with processes is in owner_process_test.go.

const testIDs = 4

// waiting yields hardly and then sleeps, so that the tests go through the futex.
func waiting() *notify.WaitPolicy { return notify.ProcessWait(0, 20*time.Microsecond) }

// join makes n ranks of this process.
func join(t testing.TB, n int) []*Transport {
	t.Helper()
	ranks := make([]*Transport, n)
	all := make([]string, n)
	for r := range ranks {
		tr, err := Join(base.Rank(r), n, testIDs, among(all))
		if err != nil {
			t.Fatal(err)
		}
		tr.WaitWith(waiting())
		t.Cleanup(func() { tr.Close() })
		ranks[r], all[r] = tr, tr.Address()
	}
	return ranks
}

// among finds ranks by their addresses, which may be filled in later.
func among(all []string) Find {
	return func(_ context.Context, r base.Rank) (string, error) { return all[r], nil }
}

// bind exposes mem as segment id of tr to all ranks.
func bind(t testing.TB, tr *Transport, id segment.ID, mem []byte) *segment.Segment {
	t.Helper()
	s, err := segment.BindShared(mem, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	expose(t, tr, id, s)
	return s
}

func expose(t testing.TB, tr *Transport, id segment.ID, s *segment.Segment) {
	t.Helper()
	if err := tr.Expose(id, s); err != nil {
		t.Fatal(err)
	}
	for r := range tr.size {
		if err := tr.Grant(id, base.Rank(r)); err != nil {
			t.Fatal(err)
		}
	}
}

func link(t testing.TB, tr *Transport, r base.Rank) *peerLink {
	t.Helper()
	l, err := tr.Link(r)
	if err != nil {
		t.Fatal(err)
	}
	return l.(*peerLink)
}

// local makes a segment that is nobody else's, with data as contents.
func local(t testing.TB, data []byte) segment.Span {
	t.Helper()
	s, err := segment.Bind(data, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	return s.All()
}

func random(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

var queue = transport.NewQueue(1<<20, 0)

func TestBoundPutAndGetOfEverySize(t *testing.T) {
	ranks := join(t, 2)
	const b = bounceBytes
	var sizes []int
	for k := range 4 {
		for d := -1; d <= 1; d++ {
			sizes = append(sizes, max(0, k*b+d))
		}
	}
	sizes = append(sizes, 3, 8, 4096, 7*b+13, 16*b)
	const margin = 64
	mem := make([]byte, 16*b+2*margin)
	bind(t, ranks[1], 0, mem)
	l := link(t, ranks[0], 1)
	for i, n := range sizes {
		clear(mem)
		want := make([]byte, len(mem))
		data := random(uint64(i), n+1)[:n] // one more, because a segment is never empty
		copy(want[margin:], data)
		src, _ := local(t, data[:n+1]).Sub(0, uint64(n))
		if err := l.Put(queue, transport.Addr{Offset: margin}, src); err != nil {
			t.Fatalf("put of %d bytes: %v", n, err)
		}
		if !bytes.Equal(mem, want) {
			t.Fatalf("after a put of %d bytes the memory differs", n)
		}
		back := make([]byte, n+1)
		dst, _ := local(t, back).Sub(0, uint64(n))
		if err := l.Get(queue, dst, transport.Addr{Offset: margin}); err != nil {
			t.Fatalf("get of %d bytes: %v", n, err)
		}
		if !bytes.Equal(back[:n], data) || back[n] != 0 {
			t.Fatalf("a get of %d bytes brought something else", n)
		}
	}
}

func TestBoundNotifications(t *testing.T) {
	ranks := join(t, 2)
	mem := make([]byte, 64)
	array := bind(t, ranks[1], 0, mem).Notifications()
	mapped, err := segment.Create(64, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	expose(t, ranks[1], 1, mapped)
	l := link(t, ranks[0], 1)
	src := local(t, []byte("12345678"))
	back := make([]byte, 8)
	dst := local(t, back)
	at := func(id segment.ID) transport.Addr { return transport.Addr{Segment: id, Offset: 8} }
	type flag = transport.Flag
	none := src
	none, _ = none.Sub(0, 0)
	steps := []struct {
		name  string
		do    func() error
		array *notify.Array
		id    notify.ID
		want  notify.Value
	}{
		{"put and flag", func() error { return l.PutNotify(queue, at(0), src, flag{ID: 1, Value: 7}) }, array, 1, 7},
		{"flag over the first", func() error { return l.Notify(queue, flag{ID: 1, Value: 9}) }, array, 1, 9},
		{"count up", func() error { return l.Notify(queue, flag{ID: 1, Value: 2, Add: true}) }, array, 1, 11},
		{"nothing and flag", func() error { return l.PutNotify(queue, at(0), none, flag{ID: 2, Value: 3, Add: true}) }, array, 2, 3},
		{"bytes bound, flag mapped", func() error { return l.PutNotify(queue, at(0), src, flag{Segment: 1, ID: 3, Value: 4}) }, mapped.Notifications(), 3, 4},
		{"bytes mapped, flag bound", func() error { return l.PutNotify(queue, at(1), src, flag{ID: 4, Value: 5}) }, array, 4, 5},
		{"get and local flag", func() error {
			return l.GetNotify(queue, dst, at(0), dst.Segment().Notifications(), flag{ID: 5, Value: 6})
		}, dst.Segment().Notifications(), 5, 6},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if got := s.array.Load(s.id); got != s.want {
			t.Errorf("%s: notification %d is %d, want %d", s.name, s.id, got, s.want)
		}
	}
	for name, got := range map[string][]byte{"bound": mem[8:16], "mapped": mapped.All().Bytes()[8:16], "got": back} {
		if string(got) != "12345678" {
			t.Errorf("%s memory holds %q", name, got)
		}
	}
}

func TestBoundAtomics(t *testing.T) {
	ranks := join(t, 2)
	s := bind(t, ranks[1], 0, make([]byte, 64))
	word, err := s.Word(16)
	if err != nil {
		t.Fatal(err)
	}
	l := link(t, ranks[0], 1)
	for _, c := range []struct {
		op                             transport.AtomicOp
		before, operand, compare, want uint64
	}{
		{transport.FetchAdd, 5, math.MaxUint64, 0, 4},
		{transport.CompareSwap, 5, 8, 5, 8},
		{transport.CompareSwap, 5, 8, 6, 5},
		{transport.Swap, 5, 9, 0, 9},
		{transport.FetchMin, 5, 3, 0, 3},
		{transport.FetchMax, 5, 1 << 63, 0, 1 << 63},
		{transport.FetchAnd, 6, 3, 0, 2},
		{transport.FetchOr, 6, 3, 0, 7},
		{transport.FetchXor, 6, 3, 0, 5},
	} {
		word.Store(c.before)
		old, err := l.Atomic(t.Context(), transport.Addr{Offset: 16}, c.op, c.operand, c.compare)
		if got := word.Load(); err != nil || old != c.before || got != c.want {
			t.Errorf("%v of %d with %d, %d: old %d, new %d, %v; want %d, %d", c.op, c.before, c.operand, c.compare, old, got, err, c.before, c.want)
		}
	}
}

// The owner's own atomics go past its service, straight to the word.
func TestBoundAtomicsOfAllRanksAndTheOwner(t *testing.T) {
	ranks := join(t, 3)
	s := bind(t, ranks[1], 0, make([]byte, 8))
	const each, callers = 2000, 3
	var wg sync.WaitGroup
	for _, tr := range ranks {
		l := link(t, tr, 1)
		for range callers {
			wg.Go(func() {
				for range each {
					if _, err := l.Atomic(t.Context(), transport.Addr{}, transport.FetchAdd, 1, 0); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	word, _ := s.Word(0)
	if got := word.Load(); got != each*callers*3 {
		t.Errorf("the word is %d after %d additions", got, each*callers*3)
	}
}

func TestBoundSizeAndRefusals(t *testing.T) {
	ranks := join(t, 3)
	mem := make([]byte, 108)
	odd := mem[4:] // atomics there are not possible
	s, err := segment.BindShared(odd, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	if err := ranks[1].Expose(0, s); err != nil {
		t.Fatal(err)
	}
	ranks[1].Grant(0, 0)
	l := link(t, ranks[0], 1)
	if n, flags, err := l.Size(0); n != 104 || flags != 8 || err != nil {
		t.Errorf("size %d with %d notifications, %v; want 104 with 8", n, flags, err)
	}
	if _, ok := l.Mapped(transport.Addr{}, 8); ok {
		t.Error("a bound segment can be addressed")
	}
	src := local(t, make([]byte, 8))
	at := func(offset uint64) transport.Addr { return transport.Addr{Offset: offset} }
	atomicAt := func(l *peerLink, offset uint64) error {
		_, err := l.Atomic(t.Context(), at(offset), transport.FetchAdd, 1, 0)
		return err
	}
	stranger := link(t, ranks[2], 1)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"put over the end", l.Put(queue, at(97), src), base.ErrOutOfRange},
		{"put far beyond", l.Put(queue, at(math.MaxUint64-3), src), base.ErrOutOfRange},
		{"get over the end", l.Get(queue, src, at(97)), base.ErrOutOfRange},
		{"put and flag over the end", l.PutNotify(queue, at(97), src, transport.Flag{ID: 1, Value: 1}), base.ErrOutOfRange},
		{"flag that is not there", l.PutNotify(queue, at(0), src, transport.Flag{ID: 8, Value: 1}), base.ErrNoNotification},
		{"flag of value 0", l.Notify(queue, transport.Flag{ID: 1}), base.ErrZeroValue},
		{"atomic over the end", atomicAt(l, 104), base.ErrOutOfRange},
		{"atomic at a crooked offset", atomicAt(l, 9), base.ErrUnaligned},
		{"atomic in crooked memory", atomicAt(l, 8), base.ErrUnaligned},
		{"put without a grant", stranger.Put(queue, at(0), src), base.ErrNoSegment},
		{"atomic without a grant", atomicAt(stranger, 0), base.ErrNoSegment},
		{"another segment", l.Put(queue, transport.Addr{Segment: 2}, src), base.ErrNoSegment},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if diff := cmp.Diff(make([]byte, 108), mem); diff != "" {
		t.Errorf("what was refused had an effect:\n%s", diff)
	}
	if s.Notifications().Load(1) != 0 {
		t.Error("a put that was refused set its flag")
	}
}

// A peer of another mind, or a broken one, can write anything into a request.
func TestOwnerBelievesNothing(t *testing.T) {
	ranks := join(t, 3)
	mem := make([]byte, 104)
	bind(t, ranks[1], 0, mem)
	l := link(t, ranks[0], 1)
	probe := local(t, make([]byte, 8))
	if err := l.Get(queue, probe, transport.Addr{}); err != nil {
		t.Fatal(err)
	}
	f := l.bound[0]
	good := memoryRequest{op: opPut, segment: 0, generation: f.generation, length: 8}
	for _, c := range []struct {
		name   string
		change func(*memoryRequest)
		want   status
	}{
		{"good", func(*memoryRequest) {}, statusDone},
		{"no operation", func(r *memoryRequest) { r.op = 0 }, statusMalformed},
		{"operation after the last", func(r *memoryRequest) { r.op = opEnd }, statusMalformed},
		{"huge operation", func(r *memoryRequest) { r.op = math.MaxUint64 }, statusMalformed},
		{"longer than the bounce", func(r *memoryRequest) { r.length = bounceBytes + 1 }, statusMalformed},
		{"huge length", func(r *memoryRequest) { r.length = math.MaxUint64 }, statusMalformed},
		{"over the end", func(r *memoryRequest) { r.offset = 97 }, statusOutOfRange},
		{"sum overflows", func(r *memoryRequest) { r.offset = math.MaxUint64 - 3 }, statusOutOfRange},
		{"get over the end", func(r *memoryRequest) { r.op, r.offset = opGet, 97 }, statusOutOfRange},
		{"atomic over the end", func(r *memoryRequest) { r.op, r.offset = opAtomic, 104 }, statusOutOfRange},
		{"crooked atomic", func(r *memoryRequest) { r.op, r.offset = opAtomic, 4 }, statusUnaligned},
		{"generation before", func(r *memoryRequest) { r.generation-- }, statusNoSegment},
		{"generation after", func(r *memoryRequest) { r.generation++ }, statusNoSegment},
		{"segment that is not there", func(r *memoryRequest) { r.segment = 3 }, statusNoSegment},
		{"segment beyond all", func(r *memoryRequest) { r.segment = math.MaxUint32 }, statusNoSegment},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := f.lane.take(true)
			defer func() { f.lane.free <- s }()
			r := good
			c.change(&r)
			copy(s.bounce, "12345678")
			f.lane.send(s, r)
			f.lane.receive(f, s)
			if got := status(s.answer[0].Load()); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
	want := make([]byte, 104)
	copy(want, "12345678")
	if diff := cmp.Diff(want, mem); diff != "" {
		t.Errorf("a bad request had an effect:\n%s", diff)
	}
}

func TestBoundOperationsAllocateNothing(t *testing.T) {
	ranks := join(t, 2)
	bind(t, ranks[1], 0, make([]byte, 4*bounceBytes))
	l := link(t, ranks[0], 1)
	src := local(t, make([]byte, 4*bounceBytes))
	at := transport.Addr{}
	flag := transport.Flag{ID: 1, Value: 1}
	for name, do := range map[string]func() error{
		"put":        func() error { return l.Put(queue, at, src) },
		"put notify": func() error { return l.PutNotify(queue, at, src, flag) },
		"notify":     func() error { return l.Notify(queue, flag) },
		"get":        func() error { return l.Get(queue, src, at) },
		"get notify": func() error { return l.GetNotify(queue, src, at, src.Segment().Notifications(), flag) },
		"atomic": func() error {
			_, err := l.Atomic(context.Background(), at, transport.FetchAdd, 1, 0)
			return err
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestHeapSegmentIsRefused(t *testing.T) {
	tr := join(t, 1)[0]
	s, err := segment.New(8, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Expose(0, s); err == nil {
		t.Error("a segment that no other process can reach was exposed")
	}
}

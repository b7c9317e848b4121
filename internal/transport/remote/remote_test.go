package remote

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

func newSegment(t *testing.T, size int) *segment.Segment {
	t.Helper()
	s, err := segment.Bind(make([]byte, size), 4, notify.ProcessWait(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A region is found by its id and generation, by ranks that have access, until it is
// withdrawn. The next region of the same id is another.
func TestRegistryFindsRegions(t *testing.T) {
	var g Registry[int]
	g.Init(0, 3, 2)
	for generation := uint64(1); generation <= 3; generation++ {
		if err := g.Expose(1, newSegment(t, 64), func(x *Region[int]) error { x.State = 7; return nil }); err != nil {
			t.Fatal(err)
		}
		if err := g.Grant(1, 2); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			rank       base.Rank
			id         uint32
			generation uint64
			found      bool
		}{
			{2, 1, generation, true},
			{1, 1, generation, false},
			{2, 0, generation, false},
			{2, 2, generation, false},
			{2, 1 << 31, generation, false},
			{2, 1, generation - 1, false},
			{2, 1, generation + 1, false},
		} {
			x := g.Find(c.rank, c.id, c.generation)
			if (x != nil) != c.found || x != nil && (x.State != 7 || x.ID != 1) {
				t.Errorf("Find(%d, %d, %d) = %v, want found %v", c.rank, c.id, c.generation, x, c.found)
			}
		}
		window, err := g.Window(1, 2)
		if err != nil || window.Live.Load() != generation {
			t.Errorf("Window: %v, %v", window, err)
		}
		if _, err := g.OwnWindow(1); !errors.Is(err, base.ErrNoSegment) {
			t.Errorf("a window without access: %v", err)
		}
		x, err := g.Withdraw(1, nil)
		if err != nil || x.Usable() || g.At(1) != nil || g.Find(2, 1, generation) != nil || window.Live.Load() != 0 {
			t.Errorf("withdrawn region of generation %d: %v, usable %v", generation, err, x.Usable())
		}
	}
}

func TestRegistryRefusesBadCalls(t *testing.T) {
	var g Registry[struct{}]
	g.Init(0, 2, 2)
	s := newSegment(t, 64)
	failed := errors.New("setup")
	if err := g.Expose(0, s, func(*Region[struct{}]) error { return failed }); err != failed || g.At(0) != nil {
		t.Errorf("Expose with a setup that fails: %v, %v", err, g.At(0))
	}
	if err := g.Expose(0, s, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.Expose(0, s, nil); err == nil {
		t.Error("an id was exposed twice")
	}
	_, withdraw := g.Withdraw(1, nil)
	for _, c := range []struct {
		err, want error
	}{
		{g.Expose(2, s, nil), base.ErrNoSegment},
		{g.Grant(1, 0), base.ErrNoSegment},
		{g.Grant(0, 2), base.ErrBadRank},
		{g.Grant(0, -1), base.ErrBadRank},
		{withdraw, base.ErrNoSegment},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
	}
}

// Holders are the ranks that were sent the descriptor, and have not released it.
func TestRegistryKnowsHolders(t *testing.T) {
	var g Registry[struct{}]
	g.Init(0, 4, 1)
	if err := g.Expose(0, newSegment(t, 64), nil); err != nil {
		t.Fatal(err)
	}
	for r := range base.Rank(4) {
		if r != 2 {
			if err := g.Grant(0, r); err != nil {
				t.Fatal(err)
			}
		}
		full := errors.New("full")
		err := g.Attach(r, 0, func(x *Region[struct{}]) error {
			if (x != nil) != (r != 2) {
				t.Errorf("rank %d attaches to %v", r, x)
			}
			return full
		})
		if err != full {
			t.Errorf("Attach: %v, want the error of reply", err)
		}
	}
	if err := g.Attach(0, 1, func(x *Region[struct{}]) error {
		if x != nil {
			t.Errorf("a region of an id that does not exist: %v", x)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	var told []base.Rank
	x, err := g.Withdraw(0, func(x *Region[struct{}]) { told = slices.Collect(x.Holders()) })
	if err != nil || !slices.Equal(told, []base.Rank{0, 1, 3}) {
		t.Errorf("told %v, %v", told, err)
	}
	if !x.Release(1) || x.Release(1) || x.Release(2) {
		t.Error("Release reports another than whether the rank held the descriptor")
	}
	if now := slices.Collect(x.Holders()); !slices.Equal(now, []base.Rank{0, 3}) {
		t.Errorf("holders %v, want 0 and 3", now)
	}
}

func TestRegionAtomic(t *testing.T) {
	var g Registry[struct{}]
	g.Init(0, 1, 1)
	if err := g.Expose(0, newSegment(t, 64), nil); err != nil {
		t.Fatal(err)
	}
	x := g.At(0)
	for _, c := range []struct {
		op     transport.AtomicOp
		offset uint64
		want   Refusal
	}{
		{transport.FetchAdd, 0, 0},
		{transport.FetchXor, 56, 0},
		{transport.FetchAdd, 4, RefusedUnaligned},
		{transport.FetchAdd, 64, RefusedRange},
		{transport.FetchAdd, ^uint64(7), RefusedRange},
		{transport.FetchXor + 1, 0, RefusedRange},
	} {
		if _, why := x.Atomic(c.op, c.offset, 1, 0); why != c.want {
			t.Errorf("operation %d at %d: refusal %d, want %d", c.op, c.offset, why, c.want)
		}
	}
	if old, _ := x.Atomic(transport.FetchAdd, 0, 1, 0); old != 1 {
		t.Errorf("the word is %d after one addition of 1", old)
	}
}

func TestDescriptorChecks(t *testing.T) {
	d := Descriptor{Size: 64, Notifications: 4}
	for _, c := range []struct {
		name      string
		err, want error
	}{
		{"all", d.Check(0, 64), nil},
		{"nothing at the end", d.Check(64, 0), nil},
		{"behind the end", d.Check(65, 0), base.ErrOutOfRange},
		{"too long", d.Check(1, 64), base.ErrOutOfRange},
		{"sum overflows", d.Check(8, ^uint64(0)), base.ErrOutOfRange},
		{"last word", d.CheckWord(56), nil},
		{"word over the end", d.CheckWord(60), base.ErrOutOfRange},
		{"unaligned word", d.CheckWord(4), base.ErrUnaligned},
		{"flag", d.CheckFlag(transport.Flag{ID: 3, Value: 1}), nil},
		{"flag 4 of 4", d.CheckFlag(transport.Flag{ID: 4, Value: 1}), base.ErrNoNotification},
		{"value 0", d.CheckFlag(transport.Flag{ID: 3}), base.ErrZeroValue},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
}

// Dropping an old descriptor leaves the one that has replaced it.
func TestDescriptorsDropOnlyTheirOwn(t *testing.T) {
	table := make(Descriptors[Descriptor], 2)
	old, new := &Descriptor{Generation: 1}, &Descriptor{Generation: 2}
	if table.Set(2, old) || table.Get(2) != nil || table.Check(2) == nil || table.Check(1) != nil {
		t.Error("there is a segment 2 of 2")
	}
	table.Set(1, old)
	table.Set(1, new)
	if table.Drop(1, old); table.Get(1) != new {
		t.Errorf("%v, want the new one", table.Get(1))
	}
	if table.Drop(1, new); table.Get(1) != nil {
		t.Errorf("%v, want none", table.Get(1))
	}
}

func TestFlagWord(t *testing.T) {
	for _, f := range []transport.Flag{{ID: 1, Value: 2}, {ID: 1<<32 - 1, Value: 1<<32 - 1, Add: true}, {Value: 1}} {
		if got := UnpackFlag(PackFlag(f), f.Add); got != f {
			t.Errorf("%+v came back as %+v", f, got)
		}
	}
}

// Numbers are given again as soon as they are free, so that the table does not grow.
func TestPendingReusesNumbers(t *testing.T) {
	var p Pending[int]
	values := make([]int, 100)
	open := map[uint32]*int{}
	for i := range values {
		number := p.Add(&values[i])
		if _, used := open[number]; used || number > 9 {
			t.Fatalf("number %d, while %d requests are pending", number, len(open))
		}
		open[number] = &values[i]
		if len(open) == 10 {
			gone := uint32(i % 10)
			p.Remove(gone)
			delete(open, gone)
		}
		for n, r := range open {
			if p.Get(n) != r {
				t.Fatalf("number %d is another request", n)
			}
		}
		if p.Len() != len(open) {
			t.Fatalf("%d requests, want %d", p.Len(), len(open))
		}
	}
	if p.Get(10) != nil || p.Get(1<<32-1) != nil {
		t.Error("a number that was never given has a request")
	}
	if all := p.Drain(); len(all) != len(open) || p.Len() != 0 || p.Get(0) != nil {
		t.Errorf("%d drained of %d, %d left", len(all), len(open), p.Len())
	}
}

// An atomic whose reply has not come is in doubt if it was sent, and not applied if it
// could be taken back.
func TestCallThatEndsEarly(t *testing.T) {
	array := notify.NewArray(make([]byte, notify.Bytes(1)), 1, notify.ProcessWait(0, 0))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var c Call
	if _, err := c.AwaitValue(over, new(transport.Grace), array, func() bool { return true }); err != over.Err() {
		t.Errorf("a call that was taken back: %v", err)
	}
	_, err := c.AwaitValue(over, new(transport.Grace), array, func() bool { return false })
	doubt, ok := errors.AsType[*base.InDoubtError](err)
	if !ok {
		t.Fatalf("a call that was sent: %v, want that it is in doubt", err)
	}
	c.Complete(42, nil)
	array.WakeSleepers()
	if old, err := doubt.Wait(t.Context()); old != 42 || err != nil {
		t.Errorf("the orphaned atomic returns %d, %v", old, err)
	}
	cancelled := false
	if err := new(Call).Await(over, array, func() bool { cancelled = true; return false }); err != over.Err() || !cancelled {
		t.Errorf("%v, cancelled %v", err, cancelled)
	}
}

func TestPeerIsLost(t *testing.T) {
	first, second, third := &base.RankError{Reason: "first"}, &base.RankError{Reason: "second"}, &base.RankError{Reason: "third"}
	type event struct {
		err      *base.RankError
		reported bool
	}
	for _, c := range []struct {
		name   string
		events []event
		want   *base.RankError
		seen   int
	}{
		{"the first that was seen holds", []event{{first, false}, {second, false}}, first, 1},
		{"a report replaces it", []event{{first, false}, {second, true}}, second, 1},
		{"the first report holds", []event{{first, true}, {second, true}, {third, false}}, first, 0},
		{"also behind one that was seen", []event{{first, false}, {second, true}, {third, true}}, second, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Peer
			var closed atomic.Bool
			p.Init(3, &closed)
			if err := p.Err(); err != nil {
				t.Error(err)
			}
			seen := 0
			for _, e := range c.events {
				p.MarkLost(e.err, e.reported, func(*base.RankError) { seen++ })
			}
			if p.Lost() != c.want || !errors.Is(p.Err(), c.want) || seen != c.seen {
				t.Errorf("%v, seen %d times; want %v, %d", p.Lost(), seen, c.want, c.seen)
			}
			if why, news := p.MarkLeft(); why != c.want || news {
				t.Errorf("a lost peer left: %v", why)
			}
			if closed.Store(true); p.Err() != base.ErrClosed {
				t.Errorf("%v of a closed transport", p.Err())
			}
		})
	}
	var p Peer
	p.Init(3, new(atomic.Bool))
	if why, news := p.MarkLeft(); !news || why.Rank != 3 || p.Lost() != why {
		t.Errorf("a peer left: %v, news %v", why, news)
	}
}

// A Wake before the nap ends it; DropWake takes it back.
func TestNapEnds(t *testing.T) {
	var p Progress
	p.Init()
	p.Wake()
	p.Wake()
	if !p.Nap(1 << 60) {
		t.Error("the time of a long nap was over")
	}
	p.Wake()
	p.DropWake()
	if p.Nap(1) {
		t.Error("a nap was ended by a Wake that was dropped")
	}
	napping := make(chan struct{})
	p.Start(func() {
		close(napping)
		for !p.IsStopped() {
			p.Nap(1 << 60)
		}
	})
	<-napping
	interrupted := false
	p.Stop(func() { interrupted = true })
	if !interrupted {
		t.Error("Stop has not called interrupt")
	}
}

type fakeParker struct{ park func() }

func (f fakeParker) Park(*atomic.Uint32, uint32, time.Duration) { f.park() }
func (f fakeParker) Wake(*atomic.Uint32)                        {}

// Two transports are polled by the waits of one policy, the second also when the first has moved something.
// Both know of a wait that polls, and before one sleeps, the threads of both are woken.
func TestPolledBy(t *testing.T) {
	var both [2]Progress
	var polls [2]int
	polling := func(want bool) {
		t.Helper()
		for i := range both {
			if both[i].Polling() != want {
				t.Errorf("transport %d: a wait polls: %t, want %t", i, !want, want)
			}
		}
	}
	w := &notify.WaitPolicy{Yield: 1, YieldOnce: func() {}, Sleep: fakeParker{func() {
		for i := range both {
			if p := &both[i]; p.Parked() != 1 || !p.Nap(1<<60) {
				t.Errorf("transport %d: its thread was not woken before the caller sleeps", i)
			}
		}
		polling(false)
	}}}
	polling(false)
	for i := range both {
		both[i].Init()
		both[i].PolledBy(w, func() bool {
			polling(polls[i] != 4)
			polls[i]++
			return polls[i]%2 == i
		})
	}
	for i := range 4 {
		w.Pollers.Add(1)
		if !w.Poll() {
			t.Errorf("poll %d: nothing moved, though one of the two has", i)
		}
		w.Pollers.Add(-1)
	}
	polling(false)
	w.Sleep.Park(new(atomic.Uint32), 0, time.Minute)
	if polls != [2]int{4, 4} || both[0].Parked() != 0 || both[1].Parked() != 0 {
		t.Errorf("%v polls, want 4 each; %d and %d callers sleep", polls, both[0].Parked(), both[1].Parked())
	}
}

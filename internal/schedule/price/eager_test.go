package price

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// oneToOne has rank 0 send its vector to rank 1 through eager memory.
func oneToOne(b *schedule.Builder, c *schedule.Call) {
	n := c.Count
	hold, data, credit := b.Eager(n), b.EagerSlots(1), b.Slots(1)
	if b.Rank() == 0 {
		b.AwaitCredit(credit)
		b.Put(hold.At(1, 0, n), b.In(0, 0, n), data)
		return
	}
	b.Await(data)
	b.Copy(b.Out(1, 0, n), hold.At(1, 0, n))
	b.Credit(0, credit)
}

// TestEagerMemoryInTheModel counts the credits of 64 runs of 24 KiB, which are fewer between nodes,
// where there are more copies, and the bytes that formulas reckon with.
func TestEagerMemoryInTheModel(t *testing.T) {
	const n = 24 << 10
	c := &schedule.Call{Op: schedule.Broadcast, Size: 2, Count: n, Line: 64}
	for _, want := range []struct{ onNode, copies, credits int }{{2, 8, 16}, {1, 32, 4}} {
		m := &Machine{RanksPerNode: want.onNode, Network: Link{Put: 1}}
		res, err := Run(m, c, func(r int) *schedule.Schedule { return schedule.Build(c, r, oneToOne) }, Load{Runs: 64})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Ranks[1].Signals; got != want.credits {
			t.Errorf("%d ranks on a node: %d credits, want %d", want.onNode, got, want.credits)
		}
		at, err := NewTopology(m, c.Size, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := Profile{Eager: n, EagerSlots: 1}
		if got := p.Memory(at, Segments{Count: 1, AtOnce: 1, Element: 1}); got != float64(want.copies*n) {
			t.Errorf("%d ranks on a node: %v bytes, want %d", want.onNode, got, want.copies*n)
		}
	}
}

// TestSendersRunAheadInTheModel has rank 0 send 1 byte in each run, which takes it 1 s, to a rank
// that is 1000 s away. It waits only when all 256 copies are in use, and again when those are that it
// got back by 2 credits.
func TestSendersRunAheadInTheModel(t *testing.T) {
	c := &schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 1, Line: 64}
	m := &Machine{Network: Link{Put: 1, Latency: 1000}}
	for _, want := range []struct {
		runs    int
		root    float64 // when it has ended
		credits int
	}{
		{1, 1, 0}, {127, 127, 0}, {128, 128, 1}, {256, 256, 2},
		{257, 2128 + 1, 2}, // the first credit follows run 127, which arrives after 1128 s
		{512, 2128 + 256, 4},
		{513, 4256 + 1, 4}, // the third follows run 383, which arrives after 2128+128+1000 s
	} {
		res, err := Run(m, c, func(r int) *schedule.Schedule { return schedule.Build(c, r, oneToOne) }, Load{Runs: want.runs})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Ranks[0].Finish; got != want.root {
			t.Errorf("%d runs: the root ends after %v s, want %v", want.runs, got, want.root)
		}
		if got := res.Ranks[1].Signals; got != want.credits {
			t.Errorf("%d runs: %d credits, want %d", want.runs, got, want.credits)
		}
	}
}

// TestVectorsInSegments has rank 0 copy 3 elements for a put, which takes 3 s in each run where its vector lies in no
// segment, and copies of others, or of a rank with two lanes, which are always made.
func TestVectorsInSegments(t *testing.T) {
	const n, runs = 3, 2
	copyAndPut := func(b *schedule.Builder) {
		b.Copy(b.Scratch(n).At(0, 0, n), b.In(0, 0, n))
		b.Put(b.Eager(n).At(1, 0, n), schedule.Region{Rank: 0, Buf: schedule.Scratch, Len: n}, b.EagerSlots(1))
	}
	for _, test := range []struct {
		name         string
		root         func(b *schedule.Builder)
		plain, saved float64
	}{
		{"a copy for a put", copyAndPut, n * runs, n * runs},
		{"two lanes", func(b *schedule.Builder) {
			b.Fork(2, func(i int) {
				if i == 0 {
					copyAndPut(b)
				} else {
					b.Copy(b.Out(0, 0, n), b.In(0, 0, n))
				}
			})
		}, 2 * n * runs, 0},
		{"another copy", func(b *schedule.Builder) {
			copyAndPut(b)
			b.Copy(b.Out(0, 0, n), b.In(0, 0, n))
		}, 2 * n * runs, 0},
	} {
		emit := func(b *schedule.Builder, _ *schedule.Call) {
			if b.Rank() == 0 {
				test.root(b)
				return
			}
			b.Scratch(n)
			b.Eager(n)
			b.Await(b.EagerSlots(1))
		}
		c := &schedule.Call{Op: schedule.Scatter, Size: 2, Count: n, Line: 1}
		for _, load := range []Load{{Runs: runs}, {Runs: runs, InSegments: true}} {
			want := test.plain
			if load.InSegments {
				want -= test.saved
			}
			res, err := Run(&Machine{CopyRate: 1}, c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) }, load)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Ranks[0].Finish; got != want {
				t.Errorf("%s, in segments %v: %v s, want %v", test.name, load.InSegments, got, want)
			}
		}
	}
}

func TestProfileOfVectorsInSegments(t *testing.T) {
	p := Profile{Stages: []Stage{{Peers: 1}, {Spared: true}, {Peers: 2}}}
	q := p.InSegments()
	if len(p.Stages) != 3 || !p.Stages[1].Spared {
		t.Errorf("the profile itself has become %+v", p.Stages)
	}
	if len(q.Stages) != 2 || q.Stages[0].Peers != 1 || q.Stages[1].Peers != 2 {
		t.Errorf("stages %+v, want those that are not spared", q.Stages)
	}
}

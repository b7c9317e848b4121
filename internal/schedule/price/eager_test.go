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

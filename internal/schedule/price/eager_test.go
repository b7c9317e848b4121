package price

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestSendersRunAheadInTheModel has rank 0 send 1 byte in each run, which takes it 1 s, to a rank
// that is 1000 s away. It waits only when all 64 copies are in use, and again when those are that it
// got back by 4 credits.
func TestSendersRunAheadInTheModel(t *testing.T) {
	emit := func(b *schedule.Builder, _ *schedule.Call) {
		hold, data, credit := b.Eager(1), b.EagerSlots(1), b.Slots(1)
		if b.Rank() == 0 {
			b.AwaitCredit(credit)
			b.Put(hold.At(1, 0, 1), b.In(0, 0, 1), data)
			return
		}
		b.Await(data)
		b.Copy(b.Out(1, 0, 1), hold.At(1, 0, 1))
		b.Credit(0, credit)
	}
	c := &schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 1, Line: 64}
	m := &Machine{Network: Link{Put: 1, Latency: 1000}}
	for _, want := range []struct {
		runs    int
		root    float64 // when it has ended
		credits int
	}{
		{1, 1, 0}, {15, 15, 0}, {16, 16, 1}, {64, 64, 4},
		{65, 2016 + 1, 4}, // the first credit follows run 15, which arrives after 1016 s
		{128, 2016 + 64, 8},
		{129, 4032 + 1, 8}, // the fifth follows run 79, which arrives after 2016+16+1000 s
	} {
		res, err := Run(m, c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) }, Load{Runs: want.runs})
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

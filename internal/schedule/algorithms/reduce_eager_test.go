package algorithms

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// TestNextReduceFollowsAtThePaceOfTheBusiest prices two eager reductions of 1 byte by ranks with a host each, the
// second of which begins before the first has ended, by the formula and by simulation. The times are seconds.
func TestNextReduceFollowsAtThePaceOfTheBusiest(t *testing.T) {
	for _, test := range []struct {
		name         string
		machine      price.Machine
		ranks, radix int
		one, more    float64 // how long one run takes, and how much longer two
	}{
		{
			// The root's port takes in 15 messages of each run at 1 s, at once behind those of the run before.
			"the port of a rank that hears from most", price.Machine{Network: price.Link{Latency: 100}, Bandwidth: 1}, 32, 16, 115 + 101, 15,
		},
		{
			// Nobody waits for a message on its way, so that the port has no gaps.
			"the port in both runs", price.Machine{Bandwidth: 1}, 32, 16, 16, 16,
		},
		{
			// A run ends when the vector has left through the port.
			"what each sends", price.Machine{Network: price.Link{Latency: 100, Put: 4}, Bandwidth: 1}, 8, 2, 3 * 105, 4 + 1,
		},
		{
			// The rank that sends to the root last has folded twice before.
			"what a rank folds and sends", price.Machine{Network: price.Link{Latency: 100, Put: 4}, ReduceRate: 1}, 8, 2, 3 * 105, 2 + 4,
		},
		{
			// The root folds the next run only when this one has ended.
			"what the root folds", price.Machine{Network: price.Link{Latency: 100, Put: 1}, ReduceRate: 1}, 9, 3, 2 * 103, 2 + 2,
		},
	} {
		c := schedule.Call{Op: schedule.Reduce, Size: test.ranks, Radix: test.radix, Count: 1, Line: 64}
		want := test.one + test.more
		at, err := price.NewTopology(&test.machine, c.Size, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		half := price.Estimate(&test.machine, at, reduceEagerFormula(at, &c), price.Segments{Count: 1, AtOnce: 1, Element: 1})
		seconds, err := price.Predict(&test.machine, &c, reduceEager, price.Load{Runs: 2})
		if err != nil {
			t.Fatal(err)
		}
		if 2*half != want || seconds != want {
			t.Errorf("%s: %v s by the formula and %v s by simulation, want %v", test.name, 2*half, seconds, want)
		}
	}
}

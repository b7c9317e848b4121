package algorithms

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A movement is what an algorithm that combines nothing takes: the longest chain of
// messages with credits and without, and what the rank sends that sends most, and all.
type movement struct{ Steps, Rounds, Sent, Total int }

// TestCostOfMovements compares the costs that the comments of algorithms state with
// those of their schedules, for p ranks and vectors, or blocks, of n elements.
func TestCostOfMovements(t *testing.T) {
	all := func(p, n int) int { return p * (p - 1) * n }
	for _, test := range []struct {
		op   schedule.Operation
		name string
		want func(p, n int) movement
	}{
		{schedule.Broadcast, "flat", func(p, n int) movement { return movement{2, 1, n * (p - 1), n * (p - 1)} }},
		{schedule.Broadcast, "binomial", func(p, n int) movement {
			return movement{log2down(p) + 1, log2down(p), n * log2up(p), n * (p - 1)} // the last stage is shorter unless p is a power of two
		}},
		{schedule.Broadcast, "chain", func(p, n int) movement { return movement{p, p - 1, n, n * (p - 1)} }},
		{schedule.Broadcast, "scatter-allgather", func(p, n int) movement {
			return movement{p, p - 1, 2 * n / p * (p - 1), n * (p - 1)}
		}},
		{schedule.Broadcast, "direct", func(int, int) movement { return movement{2, 0, 0, 0} }},
		{schedule.Broadcast, "eager", func(p, n int) movement { return movement{1, 1, n * (p - 1), n * (p - 1)} }},

		{schedule.Gather, "flat", func(p, n int) movement {
			return movement{2 * ((p + 6) / 8), (p + 6) / 8, n, n * (p - 1)}
		}},
		{schedule.Gather, "direct", func(int, int) movement { return movement{2, 0, 0, 0} }},
		{schedule.Scatter, "flat", func(p, n int) movement { return movement{2, 1, n * (p - 1), n * (p - 1)} }},
		{schedule.Scatter, "direct", func(int, int) movement { return movement{2, 0, 0, 0} }},

		{schedule.AllGather, "ring", func(p, n int) movement { return movement{p, p - 1, n * (p - 1), all(p, n)} }},
		{schedule.AllGather, "linear", func(p, n int) movement { return movement{2, 1, n * (p - 1), all(p, n)} }},
		{schedule.AllGather, "doubling", func(p, n int) movement {
			return movement{log2up(p) + 1, log2up(p), n * (p - 1), all(p, n)}
		}},
		{schedule.AllGather, "bruck", func(p, n int) movement {
			return movement{log2up(p), log2up(p), n * (p - 1), all(p, n)}
		}},
		{schedule.AllGather, "direct", func(int, int) movement { return movement{2, 0, 0, 0} }},
		{schedule.AllGather, "flip", func(p, n int) movement { return movement{1, 1, n * (p - 1), all(p, n)} }},

		{schedule.AllToAll, "pairwise", func(p, n int) movement { return movement{p, p - 1, n * (p - 1), all(p, n)} }},
		{schedule.AllToAll, "shared", func(int, int) movement { return movement{2, 0, 0, 0} }},
		{schedule.AllToAll, "flip", func(p, n int) movement { return movement{1, 1, n * (p - 1), all(p, n)} }},
	} {
		t.Run(test.op.String()+" "+test.name, func(t *testing.T) {
			for _, p := range []int{2, 3, 5, 8, 13, 16, 17} {
				if diff := cmp.Diff(test.want(p, 2*p), moved(t, test.op, test.name, p, 2*p)); diff != "" {
					t.Errorf("%d ranks (-want +got):\n%s", p, diff)
				}
			}
		})
	}
}

// TestCostOfPackedMovements is the same for algorithms that take one message a step
// and more than one block in it: of powers of two, where their cost is a formula.
func TestCostOfPackedMovements(t *testing.T) {
	for _, p := range []int{2, 4, 8, 16, 32} {
		n, stages := 3, log2up(p)
		half := n * p / 2 * stages // of which each rank sends as much in Bruck's
		for _, test := range []struct {
			op   schedule.Operation
			name string
			want movement
		}{
			{schedule.Gather, "binomial", movement{max(2, stages), stages, n * p / 2, half}},
			{schedule.Gather, "eager", movement{stages, stages, n * p / 2, half}},
			{schedule.Scatter, "binomial", movement{stages, stages, n * (p - 1), half}},
			{schedule.AllToAll, "bruck", movement{stages, stages, half, p * half}},
		} {
			if diff := cmp.Diff(test.want, moved(t, test.op, test.name, p, n)); diff != "" {
				t.Errorf("%v %s of %d ranks (-want +got):\n%s", test.op, test.name, p, diff)
			}
		}
	}
}

// Goal: Bruck's algorithms take a round for each digit of the ranks' numbers to the base of the radix, and each
// rank sends a block once for each of its digits that is not 0, or once in all in an allgather.
func TestCostOfBruckByRadix(t *testing.T) {
	for _, radix := range []int{1, 2, 3, 4, 16, 1 << 62} {
		for _, p := range []int{1, 2, 3, 5, 16, 17, 64, 100} {
			base, n := max(2, radix), 3
			rounds, digits := 0, 0
			for weight := 1; weight < p; weight *= base {
				rounds++
				for d := range p {
					digits += min(1, d/weight%base)
				}
			}
			for _, test := range []struct {
				op   schedule.Operation
				want movement
			}{
				{schedule.AllToAll, movement{rounds, rounds, n * digits, p * n * digits}},
				{schedule.AllGather, movement{rounds, rounds, n * (p - 1), p * n * (p - 1)}},
			} {
				k := cost(t, schedule.Call{Op: test.op, Size: p, Count: n, Radix: radix}, "bruck")
				if diff := cmp.Diff(test.want, movement{k.Steps, k.Rounds, k.Sent, k.Total}); diff != "" {
					t.Errorf("%v of %d ranks, radix %d (-want +got):\n%s", test.op, p, radix, diff)
				}
			}
		}
	}
}

// TestAlltoallCreditsBoundSteps tests that credits cost a step for half a window and
// not for every rank, and none if there are enough for all.
func TestAlltoallCreditsBoundSteps(t *testing.T) {
	for _, p := range []int{2, 3, 8, 9, 10, 17, 33, 64, 100} {
		got := moved(t, schedule.AllToAll, "direct", p, 1)
		want := movement{2, 1, p - 1, p * (p - 1)}
		if p > 9 {
			want.Steps, want.Rounds = got.Steps, got.Rounds
			if most := 2 + p/4; got.Steps > most || got.Rounds < 2 {
				t.Errorf("%d ranks: %d steps and %d rounds, want at most %d and at least 2", p, got.Steps, got.Rounds, most)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d ranks (-want +got):\n%s", p, diff)
		}
	}
}

func moved(t *testing.T, op schedule.Operation, name string, p, n int) movement {
	t.Helper()
	a, err := Lookup(op, name)
	if err != nil {
		t.Fatal(err)
	}
	k, err := price.Cost(&schedule.Call{Op: op, Size: p, Count: n, Line: 1}, a.Emit)
	if err != nil {
		t.Fatalf("%v %s of %d ranks: %v", op, name, p, err)
	}
	return movement{k.Steps, k.Rounds, k.Sent, k.Total}
}

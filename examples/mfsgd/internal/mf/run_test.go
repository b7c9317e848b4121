package mf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
	"github.com/google/go-cmp/cmp"
)

// smallShape is a set that is learned within tenths of a second.
func smallShape() synth.Dimensions { return synth.Dimensions{Users: 500, Items: 150, Ratings: 20_000} }

// TestExactRunsAgree factorizes with an exact sum on 1, 3, 4 and 8 ranks: the
// error falls by the same amount for all of them, close to the noise floor of
// 0.68, and every rank ends with the same items.
func TestExactRunsAgree(t *testing.T) {
	var one float64
	for _, ranks := range []int{1, 3, 4, 8} {
		j := job{shape: smallShape(), ranks: ranks, factors: 8, seed: 1, age: exact, plan: RunOptions{Iterations: 100}}
		outs, errs, models := j.run(t)
		if err := firstError(errs); err != nil {
			t.Fatalf("%d ranks: %v", ranks, err)
		}
		first, last := outs[0].Samples[0].RMSE, finalRMSE(models)
		t.Logf("%d ranks: held-out RMSE from %.4f to %.4f", ranks, first, last)
		if first < 0.95 || last > 0.82 {
			t.Errorf("%d ranks: held-out RMSE went from %.4f to %.4f, want from about 1.0 to 0.8", ranks, first, last)
		}
		if ranks == 1 {
			one = last
		}
		if math.Abs(last-one) > 0.005 {
			t.Errorf("%d ranks end at %.4f, one rank at %.4f", ranks, last, one)
		}
		sameItems(t, models)
		for rank, out := range outs {
			if len(out.Samples) != 100 {
				t.Errorf("%d ranks: rank %d computed %d iterations, want 100", ranks, rank, len(out.Samples))
			}
			// With slack 0 all ranks see the same error in the same call.
			if rank > 0 && out.Samples[30].RMSE != outs[0].Samples[30].RMSE {
				t.Errorf("%d ranks: rank %d saw %v in iteration 31, rank 0 %v", ranks, rank, out.Samples[30].RMSE, outs[0].Samples[30].RMSE)
			}
		}
	}
}

// sameItems checks that all ranks ended with the same items, bit for bit: the
// hub adds in the same order everywhere.
func sameItems(t *testing.T, models []*Model) {
	t.Helper()
	for rank, m := range models {
		if !slices.Equal(m.items, models[0].items) {
			t.Errorf("of %d ranks, rank %d ends with other items than rank 0", len(models), rank)
		}
	}
}

// TestStaleRunsConverge factorizes with contributions that are as old as the
// slack allows in every call, and with ages that vary.
func TestStaleRunsConverge(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs of what shorter tests run too")
	}
	tests := []struct {
		ranks, slack int
		limit        float64 // the final RMSE must be below this
	}{
		{2, 1, 0.81}, {3, 2, 0.81}, {8, 2, 0.81}, {8, 8, 0.81}, {4, 32, 0.83}, {8, 32, 0.83},
	}
	for _, tt := range tests {
		for name, age := range map[string]func(to, from, call int) int{"oldest": oldest(tt.slack), "mixed": mixed(tt.slack)} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d/%s", tt.ranks, tt.slack, name), func(t *testing.T) {
				j := job{shape: smallShape(), ranks: tt.ranks, factors: 8, seed: 2, age: age, plan: RunOptions{Iterations: 160, Slack: tt.slack}}
				outs, errs, models := j.run(t)
				if err := firstError(errs); err != nil {
					t.Fatal(err)
				}
				if last := finalRMSE(models); !(last < tt.limit) {
					t.Errorf("held-out RMSE %.4f, want below %v", last, tt.limit)
				}
				sameItems(t, models)
				for rank, out := range outs {
					for i, s := range out.Samples {
						if s.Staleness < 0 || s.Staleness > tt.slack {
							t.Errorf("rank %d iteration %d: staleness %d", rank, i+1, s.Staleness)
						}
					}
				}
			})
		}
	}
}

// TestUpdatesAreNeitherLostNorDoubled compares the items at the end of a stale
// run with the initial items plus what each rank says it changed.
func TestUpdatesAreNeitherLostNorDoubled(t *testing.T) {
	const ranks, slack = 5, 7
	j := job{shape: smallShape(), ranks: ranks, factors: 3, seed: 3, age: mixed(slack), plan: RunOptions{Iterations: 25, Slack: slack}}
	_, errs, models := j.run(t)
	if err := firstError(errs); err != nil {
		t.Fatal(err)
	}
	for i := range models[0].items {
		var sum float32
		for _, m := range models {
			sum += m.mine[i]
		}
		if want := models[0].initial[i] + sum; models[0].items[i] != want {
			t.Fatalf("element %d is %v, want %v", i, models[0].items[i], want)
		}
	}
}

// TestUntilRMSE stops at a target: no rank waits for another for ever, all make
// the same number of calls, and the leader knows the iteration that reached it.
// A target above the start ends in the first call that every rank has been
// heard in; one that cannot be reached ends with the plan.
func TestUntilRMSE(t *testing.T) {
	const iterations = 60
	tests := []struct {
		name   string
		target float64
		reach  bool
	}{
		{"at once", 2, true},
		{"on the way", 0.88, true},
		{"never", 0.1, false},
	}
	for _, tt := range tests {
		for _, slack := range []int{0, 1, 5, 32} {
			for _, ranks := range []int{1, 6} {
				t.Run(fmt.Sprintf("%s/slack=%d/ranks=%d", tt.name, slack, ranks), func(t *testing.T) {
					j := job{shape: smallShape(), ranks: ranks, factors: 4, seed: 4, age: mixed(slack),
						plan: RunOptions{Iterations: iterations, Slack: slack, UntilRMSE: tt.target}}
					outs, errs, models := j.run(t)
					if err := firstError(errs); err != nil {
						t.Fatal(err)
					}
					sameItems(t, models)
					checkReached(t, outs, tt.target, tt.reach)
				})
			}
		}
	}
}

// checkReached compares what the leader reports with the samples.
func checkReached(t *testing.T, outs []Outcome, target float64, reach bool) {
	t.Helper()
	if !reach {
		if outs[0].Reached != 0 {
			t.Errorf("reached in iteration %d", outs[0].Reached)
		}
		return
	}
	at := outs[0].Reached
	if at < 1 || at != len(outs[0].Samples) {
		t.Fatalf("reached in iteration %d of %d", at, len(outs[0].Samples))
	}
	for rank, out := range outs {
		if len(out.Samples) < at {
			t.Errorf("rank %d computed %d iterations, rank 0 all %d", rank, len(out.Samples), at)
		}
	}
	if got := outs[0].Samples[at-1].RMSE; got > target {
		t.Errorf("iteration %d saw %.4f, above the target of %v", at, got, target)
	}
}

// TestDivergence poisons one rank that is not the leader: all ranks must end,
// with the same error.
func TestDivergence(t *testing.T) {
	for _, slack := range []int{0, 3} {
		j := job{shape: smallShape(), ranks: 4, factors: 4, seed: 5, age: mixed(slack), plan: RunOptions{Iterations: 40, Slack: slack},
			afterStart: func(rank int, m *Model) {
				if rank == 2 {
					m.users[0] = float32(math.NaN())
				}
			}}
		_, errs, _ := j.run(t)
		for rank, err := range errs {
			if !errors.Is(err, ErrDiverged) {
				t.Errorf("slack %d: rank %d ends with %v, want ErrDiverged", slack, rank, err)
			}
		}
	}
}

// TestRunStopsOnErrors sees that errors of the exchange and of the pause come
// back as they are.
func TestRunStopsOnErrors(t *testing.T) {
	broken := errors.New("broken")
	good := newHub(1, exact)
	tests := []struct {
		name     string
		exchange VectorSum
		pause    func(context.Context) error
	}{
		{"exchange", func(context.Context, []float32) (Sum, error) { return Sum{}, broken }, nil},
		{"pause", good.join(0), func(context.Context) error { return broken }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := job{shape: smallShape(), ranks: 1, factors: 2, seed: 6, age: exact, plan: RunOptions{Iterations: 1}}
			_, _, models := j.run(t)
			_, err := Run(t.Context(), models[0], tt.exchange, RunOptions{Iterations: 3, Pause: tt.pause})
			if err != broken {
				t.Errorf("error is %v, want %v", err, broken)
			}
		})
	}
}

// TestRunsAreReproducible runs the same stale job twice and must see the same
// numbers.
func TestRunsAreReproducible(t *testing.T) {
	rmses := func() (all [][]float64) {
		j := job{shape: smallShape(), ranks: 3, factors: 4, seed: 7, age: mixed(4), plan: RunOptions{Iterations: 10, Slack: 4}}
		outs, _, _ := j.run(t)
		for _, out := range outs {
			var r []float64
			for _, s := range out.Samples {
				r = append(r, s.RMSE)
			}
			all = append(all, r)
		}
		return all
	}
	if diff := cmp.Diff(rmses(), rmses()); diff != "" {
		t.Errorf("errors differ between two runs:\n%s", diff)
	}
}

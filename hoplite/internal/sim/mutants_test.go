package sim

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// TestMutants breaks the protocol in one way after the other, and expects explorations to
// notice each.
func TestMutants(t *testing.T) {
	const most = 8000
	for m := core.MutantNone + 1; m < core.Mutants; m++ {
		switch m {
		case core.MutantLostTooEarly, core.MutantNoReplica, core.MutantNoGeneration, core.MutantAnyCopy:
			continue // a matter of one message or one order of them; tests of package core send it
		}
		t.Run(m.String(), func(t *testing.T) {
			for s := range uint64(most) {
				if r, err := explore(t, Options{Seed: s + 1, Mutant: m, History: m == core.MutantDeleteEarly}); err != nil {
					t.Logf("found by %v", err)
					return
				} else if m == core.MutantDeleteEarly && linearizable(r) == porcupine.Illegal {
					t.Logf("found by seed %d: its history", s+1)
					return
				}
			}
			t.Errorf("not found in %d seeds", most)
		})
	}
}

// TestClinging expects explorations to notice programs that hold what they have followed in
// vain until their Gets end, which may wait for that very memory.
func TestClinging(t *testing.T) {
	const most = 8000
	for s := range uint64(most) {
		if _, err := explore(t, Options{Seed: s + 1, Clings: true}); err != nil {
			t.Logf("found by %v", err)
			return
		}
	}
	t.Errorf("not found in %d seeds", most)
}

// explore takes a panic of a broken protocol for a defect that was found.
func explore(t *testing.T, o Options) (r Report, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Logf("seed %d: panic: %v", o.Seed, p)
			err = errPanic
		}
	}()
	return Explore(o)
}

type panicked string

func (p panicked) Error() string { return string(p) }

const errPanic = panicked("a panic")

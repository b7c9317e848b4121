//go:build mutants

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
		case core.MutantLostTooEarly, core.MutantNoReplica, core.MutantNoGeneration, core.MutantAnyCopy, core.MutantFreeLent, core.MutantFreeShared:
			continue // a matter of one message or one order of them; tests of package core send it
		}
		mutate := func(cfg *core.Config) { cfg.Mutant = m }
		t.Run(m.String(), func(t *testing.T) {
			for s := range uint64(most) {
				if r, err := explore(t, ExplorationOptions{Seed: s + 1, Configure: mutate, History: m == core.MutantDeleteEarly}); err != nil {
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

package figure

import (
	"math"
	"runtime/debug"
	"slices"
	"testing"
)

// Goal: every figure that can be simulated has a number for each claim, a chart that can
// be drawn, and names that are its own.
func TestEveryFigureSimulated(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // schedules are garbage at once: a fifth of the time
	lab := &Lab{Ways: []Setting{Simulated}}
	seen := make(map[string]bool)
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			if seen[f.Name] {
				t.Errorf("two figures have this name")
			}
			seen[f.Name] = true
			r, err := lab.Run(t.Context(), &f)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(f.ways(), Simulated) {
				return
			}
			p := r.Parts[0]
			if p.Missing != "" || p.Setting == "" || len(p.Tables) == 0 || len(p.Verdicts) < len(f.Claims) {
				t.Fatalf("missing %q, setting %q, %d tables, %d verdicts of %d claims", p.Missing, p.Setting, len(p.Tables), len(p.Verdicts), len(f.Claims))
			}
			for _, v := range p.Verdicts {
				if math.IsNaN(v.Number) || v.Outcome == Unknown {
					t.Errorf("no number for %q", v.Claim.Text)
				}
			}
			for _, c := range p.Charts {
				for _, panel := range c.Panels {
					for _, curve := range panel.Curves {
						if len(curve.X) == 0 {
							t.Errorf("%s: curve %s of %s is empty", c.Title, curve.Name, panel.Title)
						}
					}
				}
			}
		})
	}
}

// verdicts returns the verdicts on a figure in the simulation.
func verdicts(t *testing.T, name string) []Verdict {
	t.Helper()
	f, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&Lab{Ways: []Setting{Simulated}}).Run(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return r.Parts[0].Verdicts
}

// Goal: what is counted in schedules agrees with the tables, all of it.
func TestTablesHold(t *testing.T) {
	for _, name := range []string{"pipelined-table-1", "gloo-table"} {
		for _, v := range verdicts(t, name) {
			if v.Outcome != Holds {
				t.Error(v.Line())
			}
		}
	}
}

// Goal: the negative results hold, and the effects that follow from the schedules are there:
// as large as in the paper, or not.
func TestShapes(t *testing.T) {
	for _, name := range []string{"pipelined-4", "pipelined-5", "pipelined-6", "eventual-8", "eventual-9", "eventual-10", "eventual-12"} {
		for _, v := range verdicts(t, name) {
			there := v.Outcome == Stronger || v.Outcome == Weaker
			if v.Outcome != Holds && !(there && (v.Claim.Kind == Gain || v.Claim.Kind == Crossover)) {
				t.Error(v.Line())
			}
		}
	}
}

package torture

import (
	"strings"
	"testing"
	"time"
)

// Each family finds its mutants: a job of three ranks that has one fails within some
// rounds, and says in which family.
func TestMutants(t *testing.T) {
	for _, mutant := range Mutants() {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			family, name, _ := strings.Cut(mutant, "/")
			o := JobOptions{Seed: 1, Families: []string{family}, Duration: time.Minute, Rounds: 60, Mutant: mutant}
			if name == mutantHang {
				o.Limit = 2 * time.Second
			}
			_, err := runGoroutines(t, o, 3)
			if err == nil || !strings.Contains(err.Error(), ", "+family+":") {
				t.Fatalf("the mutant was not found: %v", err)
			}
			t.Log(err)
		})
	}
}

// Without a mutant the same rounds find nothing: what TestMutants finds are the mutants.
func TestNoMutant(t *testing.T) {
	rounds := uint64(4)
	if testing.Short() {
		rounds = 2
	}
	for _, family := range Families() {
		t.Run(family, func(t *testing.T) {
			report, err := runGoroutines(t, JobOptions{Seed: 1, Families: []string{family}, Duration: time.Minute, Rounds: rounds}, 3)
			if err != nil {
				t.Fatal(err)
			}
			if report.Operations[family] == 0 {
				t.Error("the family has done nothing")
			}
		})
	}
}

// A mutant that nobody asks about would be found by nothing.
func TestMutantsHaveFamilies(t *testing.T) {
	all := families()
	for _, mutant := range Mutants() {
		family, _, _ := strings.Cut(mutant, "/")
		if all[family] == nil {
			t.Errorf("mutant %q is of no family", mutant)
		}
	}
}

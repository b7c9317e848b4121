package sim

import "testing"

// TestClinging expects explorations to notice programs that hold what they have followed in
// vain until their Gets end, which may wait for that very memory.
func TestClinging(t *testing.T) {
	const most = 8000
	for s := range uint64(most) {
		if _, err := explore(t, ExplorationOptions{Seed: s + 1, Clings: true}); err != nil {
			t.Logf("found by %v", err)
			return
		}
	}
	t.Errorf("not found in %d seeds", most)
}

// explore takes a panic of a broken protocol for a defect that was found.
func explore(t *testing.T, o ExplorationOptions) (r Exploration, err error) {
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

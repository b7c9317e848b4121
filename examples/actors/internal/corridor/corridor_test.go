package corridor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLearning lets one agent learn: rollouts get short, and reach the end.
func TestLearning(t *testing.T) {
	const seed, updates, each = 5, 300, 4
	r := rand.New(rand.NewPCG(seed, 0))
	params := make([]float32, Own)
	var lengths []int
	reached := 0
	for range updates {
		grad := make([]float32, Own)
		for range each {
			o := Roll(params, r)
			o.Gradient(grad, params)
			lengths = append(lengths, len(o.Steps))
			if o.Reached {
				reached++
			}
		}
		Apply(params, grad, each)
	}
	mean := func(xs []int) (sum float64) {
		for _, x := range xs {
			sum += float64(x) / float64(len(xs))
		}
		return sum
	}
	early, late := mean(lengths[:40]), mean(lengths[len(lengths)-200:])
	if late > early/3 || late > 15 || reached < len(lengths)*9/10 {
		t.Errorf("seed %d: rollouts of %.1f steps at first and %.1f in the end, %d of %d reach it", seed, early, late, reached, len(lengths))
	}
}

// TestRollIsRepeatable sees that a seed makes a rollout, and that their lengths differ.
func TestRollIsRepeatable(t *testing.T) {
	params := make([]float32, Own)
	walk := func() (lengths []int) {
		r := rand.New(rand.NewPCG(9, 9))
		for range 20 {
			lengths = append(lengths, len(Roll(params, r).Steps))
		}
		return lengths
	}
	first := walk()
	if d := cmp.Diff(first, walk()); d != "" {
		t.Errorf("the second walk differs (-first +second):\n%s", d)
	}
	if slices.Min(first) == slices.Max(first) || slices.Max(first) > MostSteps {
		t.Errorf("rollouts of %v steps", first)
	}
}

// TestPack takes rollouts through the form in which they travel, the longest included.
func TestPack(t *testing.T) {
	left := make([]float32, Own)
	for place := range length {
		left[3*place] = 50 // never reaches the end
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, want := range []Rollout{Roll(make([]float32, Own), r), Roll(left, r), {Steps: []Transition{}}} {
		packed := make([]float32, Elements)
		want.Pack(packed)
		if d := cmp.Diff(want, Unpack(packed)); d != "" {
			t.Errorf("rollout (-want +got):\n%s", d)
		}
	}
}

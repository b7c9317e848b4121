package algorithms

import "math"

// Engage says which ranks contribute to a Reduce with a process threshold: at
// least ceil(fraction x size) of them, with fraction in (0,1]. It is Section III-B
// of the paper on eventually consistent collectives: the binomial tree grows by
// stages, each of which doubles the ranks that take part, and whole stages are left
// out, those farthest from the root first. Half of the ranks join in the last
// stage, so any fraction above one half engages everybody (Fig. 10).
func Engage(size, root int, fraction float64) []bool {
	want := min(size, int(math.Ceil(fraction*float64(size))))
	grown := 1
	for grown < want {
		grown *= 2
	}
	engaged := make([]bool, size)
	for v := range min(grown, size) {
		engaged[(root+v)%size] = true
	}
	return engaged
}

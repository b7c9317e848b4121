package model

// A Step is one update of the parameters: whose gradients were added.
type Step []int

// Replay computes in one process what a run computes whose updates took the gradients of
// these workers, and returns the parameters after the last. Each worker computes its
// gradients one after the other, each at the parameters that came out of the update that
// took its last one; round is applied to every gradient. workers is one more than the
// highest number in steps.
func (m *Model) Replay(workers int, steps []Step, round func([]float32)) []float32 {
	params := m.Initial()
	held := make([][]float32, workers) // what each worker computes its next gradient at
	turn := make([]int, workers)       // which gradient that is
	for w := range held {
		held[w] = params
	}
	grad, sum := make([]float32, m.size), make([]float32, m.size)
	for _, taken := range steps {
		clear(sum)
		for _, w := range taken {
			m.Gradient(grad, held[w], w, turn[w])
			round(grad)
			for i, g := range grad {
				sum[i] += g
			}
		}
		next := make([]float32, m.size)
		copy(next, params)
		m.Apply(next, sum, len(taken))
		for _, w := range taken {
			held[w] = next
			turn[w]++
		}
		params = next
	}
	return params
}

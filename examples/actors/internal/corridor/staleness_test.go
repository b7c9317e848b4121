package corridor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// An actor of the simulation is on its way until a moment, with a rollout of the policy
// that it was last given.
type actor struct {
	r       *rand.Rand
	params  []float32
	rollout Rollout
	arrives int // in steps of the world
}

// A setting is a trainer and its actors, as the program has them.
type setting struct {
	actors, quorum, updates int
	samples                 bool // the trainer computes gradients, of its own policy
	slow                    int  // how often as slow as the others actor 0 is
	anyOrder                bool // travel takes so long that rollouts arrive in any order
}

func (s setting) String() string {
	return fmt.Sprintf("actors=%d,quorum=%d,updates=%d,samples=%v,slow=%d,any=%v", s.actors, s.quorum, s.updates, s.samples, s.slow, s.anyOrder)
}

// learn is a training with time that is counted in steps, so that a seed decides
// everything: actors walk at the same pace, the trainer takes the first contributions,
// and those that it took get the new policy. It returns how long the rollouts of each
// update were on average and which part of them reached the end.
func (s setting) learn(seed uint64) (lengths, reached []float64) {
	trained := make([]float32, Own)
	actors := make([]*actor, s.actors)
	for i := range actors {
		actors[i] = &actor{r: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		s.send(actors[i], i, trained, 0)
	}
	shuffle := rand.New(rand.NewPCG(seed, 0))
	for range s.updates {
		first := slices.Clone(actors)
		slices.SortStableFunc(first, func(a, b *actor) int { return a.arrives - b.arrives })
		if s.anyOrder {
			shuffle.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
		}
		first = first[:s.quorum]
		sum := make([]float32, Own)
		length, ends := 0, 0
		for _, a := range first {
			by := a.params
			if s.samples {
				by = trained
			}
			a.rollout.Gradient(sum, by)
			length += len(a.rollout.Steps)
			if a.rollout.Reached {
				ends++
			}
		}
		Apply(trained, sum, s.quorum)
		for i, a := range actors {
			if slices.Contains(first, a) {
				s.send(a, i, trained, first[s.quorum-1].arrives)
			}
		}
		lengths = append(lengths, float64(length)/float64(s.quorum))
		reached = append(reached, float64(ends)/float64(s.quorum))
	}
	return lengths, reached
}

// send starts a rollout of the policy at a moment.
func (s setting) send(a *actor, i int, params []float32, now int) {
	a.params = slices.Clone(params)
	a.rollout = Roll(a.params, a.r)
	pace := 1
	if i == 0 {
		pace = s.slow
	}
	a.arrives = now + pace*len(a.rollout.Steps)
}

func mean(xs []float64) (sum float64) {
	for _, x := range xs {
		sum += x / float64(len(xs))
	}
	return sum
}

// TestLearningFromStaleRollouts trains with several numbers of actors, the defaults of the
// program among them, and many seeds: whatever is learned must last, though gradients and
// samples are of older policies.
func TestLearningFromStaleRollouts(t *testing.T) {
	for _, samples := range []bool{false, true} {
		for _, s := range []setting{
			{actors: 7, quorum: 3, updates: 100, slow: 1},
			{actors: 7, quorum: 3, updates: 100, anyOrder: true},
			{actors: 7, quorum: 3, updates: 1000, anyOrder: true},
			{actors: 7, quorum: 3, updates: 300, slow: 20},
			{actors: 1, quorum: 1, updates: 300, slow: 1},
			{actors: 3, quorum: 1, updates: 300, anyOrder: true},
			{actors: 7, quorum: 1, updates: 300, anyOrder: true},
			{actors: 15, quorum: 7, updates: 100, anyOrder: true},
			{actors: 15, quorum: 15, updates: 100, slow: 1},
			{actors: 31, quorum: 15, updates: 100, anyOrder: true},
		} {
			s.samples = samples
			t.Run(s.String(), func(t *testing.T) {
				for seed := range uint64(20) {
					lengths, reached := s.learn(seed)
					n := len(lengths) / 5
					if l, r := mean(lengths[len(lengths)-n:]), mean(reached[len(reached)-n:]); r < 0.99 || l > 14 {
						t.Errorf("seed %d: in the last %d updates rollouts of %.1f steps, of which %.0f %% reach the end", seed, n, l, 100*r)
					}
				}
			})
		}
	}
}

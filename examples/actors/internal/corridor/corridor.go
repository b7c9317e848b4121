// Package corridor is a world to learn in, as small as one can be: an agent stands somewhere
// in a corridor, steps left or right, and is rewarded at the right end. An untrained agent
// walks about for long, a trained one goes straight, so that the length of a rollout is random
// and falls. A policy is a table, learned by advantage actor-critic.
package corridor

import (
	"math"
	"math/rand/v2"
)

const (
	length = 12
	// Own is how many parameters the policy has: per place two preferences and a value.
	Own = 3 * length
	// MostSteps ends a rollout that does not reach the end.
	MostSteps = 200

	discount = 0.95
	// An update moves a value by at most valueRate of its error. A gradient of a policy
	// that is d updates old corrects the same error d times more before the correction
	// shows: from a rate of 2 sin(pi/(4d+2)) on, the value swings further and further.
	// A value above every reward makes every action look bad and ends learning. 0.1 is
	// stable for d up to 15.
	valueRate  = 0.1
	policyRate = 2
)

// A Transition is a place, what was done there (0 left, 1 right), and how probable that was.
type Transition struct {
	Place, Action int
	Probability   float32
}

// A Rollout is one walk.
type Rollout struct {
	Steps   []Transition
	Reached bool // the right end
}

// policy is the probability of a step to the right.
func policy(params []float32, place int) float32 {
	d := params[3*place+1] - params[3*place]
	return float32(1 / (1 + math.Exp(float64(-d))))
}

// Roll walks by a policy. Everything follows from params and the state of r.
func Roll(params []float32, r *rand.Rand) Rollout {
	var out Rollout
	place := r.IntN(length - 1)
	for len(out.Steps) < MostSteps && !out.Reached {
		right := policy(params, place)
		s := Transition{Place: place, Probability: 1 - right}
		if r.Float32() < right {
			s.Action, s.Probability = 1, right
		}
		out.Steps = append(out.Steps, s)
		place = max(place+2*s.Action-1, 0)
		out.Reached = place == length-1
	}
	return out
}

// Gradient adds to grad, of at least Own elements, the way in which params should change
// because of a rollout, which may have been made by older ones: steps that were more
// probable then than now count less, as in IMPALA. A place counts once, by the average
// of its visits, so that no rollout moves a value by more than its error.
func (o *Rollout) Gradient(grad, params []float32) {
	gain := float32(0)
	if o.Reached {
		gain = 1
	}
	var visits [length]float32
	for _, s := range o.Steps {
		visits[s.Place]++
	}
	for i := len(o.Steps) - 1; i >= 0; i-- {
		s := o.Steps[i]
		right := policy(params, s.Place)
		now := 1 - right
		if s.Action == 1 {
			now = right
		}
		ratio := min(now/s.Probability, 1)
		advantage := ratio / visits[s.Place] * (gain - params[3*s.Place+2])
		grad[3*s.Place+s.Action] += advantage * (1 - now)
		grad[3*s.Place+1-s.Action] -= advantage * (1 - now)
		grad[3*s.Place+2] += advantage
		gain *= discount
	}
}

// Apply moves params, of Own elements, by the sum of so many gradients.
func Apply(params, sum []float32, gradients int) {
	for i := range params[:Own] {
		rate := float32(policyRate)
		if i%3 == 2 {
			rate = valueRate
		}
		params[i] += rate * sum[i] / float32(gradients)
	}
}

// Elements is how many numbers Pack writes.
const Elements = 2 + 3*MostSteps

// Pack writes the rollout to the first Elements of to.
func (o *Rollout) Pack(to []float32) {
	to[0], to[1] = float32(len(o.Steps)), 0
	if o.Reached {
		to[1] = 1
	}
	for i, s := range o.Steps {
		at := to[2+3*i:]
		at[0], at[1], at[2] = float32(s.Place), float32(s.Action), s.Probability
	}
}

// Unpack reads what Pack has written.
func Unpack(from []float32) Rollout {
	out := Rollout{Steps: make([]Transition, int(from[0])), Reached: from[1] != 0}
	for i := range out.Steps {
		at := from[2+3*i:]
		out.Steps[i] = Transition{Place: int(at[0]), Action: int(at[1]), Probability: at[2]}
	}
	return out
}

package mf

// This file is hot: its loops run once per rating and factor.

// Constants of the descent. With them the held-out error falls for 1 to 8 ranks
// and slack 0 to 64, even if every contribution is always as old as the slack
// allows; TestStaleRunsConverge holds a part of that.
const (
	userStep = 0.03 // step for a user's factors and bias, per rating

	// An item that many users rate would be pushed by all of them, on all ranks,
	// in the same iteration, and the sum would overshoot. Steps of items are
	// therefore shared out over all ratings of the item, whichever ranks they
	// are on: together they move it by about this fraction of the way to where
	// its raters want it. So the sum of the updates is the same for any number of
	// ranks. A smaller reach makes iterations cheap to have stale, because less
	// happens in each, and asks for more of them: with 0.08 eight ranks under
	// log-normal jitter needed 39 iterations to an error at slack 0 and 64 at
	// slack 32, with 0.03 they need 90 and 94.
	itemReach = 0.03

	// A correction that is applied t calls after the state that it corrects
	// overshoots more and more if it covers more than the fraction pi/(2t+1) of the way
	// (the stability limit of x[i+1] = x[i] - f*x[i-t]). Slacks for which
	// itemReach is more than maxLag/(slack+1) shorten the steps to that.
	maxLag = 1.5

	// The pull of a rating on a factor is weaker than that on a bias, by the
	// square of the factor on the other side. This is more than most squares.
	factorPull = 0.2

	// Every user and item is pulled toward zero as if so many more ratings said
	// that it is average: the variance of a rating around what can be learned,
	// over that of a factor.
	shrink = 10.0
)

// steps are the lengths of the steps, per item.
type steps struct {
	factor []float32 // step for an item's factors, per rating
	bias   []float32 // step for an item's bias, per rating
	pull   []float32 // pull toward zero, per rating
}

// newSteps computes the steps for a slack of the exchange.
func newSteps(facts Facts, slack int) steps {
	n := len(facts.ItemCount)
	s := steps{factor: make([]float32, n), bias: make([]float32, n), pull: make([]float32, n)}
	reach := min(itemReach, maxLag/float64(slack+1))
	for i, count := range facts.ItemCount {
		if count == 0 {
			continue // no rating, no step
		}
		s.bias[i] = float32(reach / (float64(count) + shrink))
		s.factor[i] = float32(reach / (factorPull*float64(count) + shrink))
		s.pull[i] = float32(shrink / float64(count))
	}
	return s
}

// Pass goes once over the rank's training ratings, user by user, and moves the
// users' and the items' factors along the gradient of each squared error.
func (m *Model) Pass() {
	for u := range m.shard.Users {
		items, halves := m.shard.Train.User(u)
		if len(items) == 0 {
			continue
		}
		m.passUser(m.users[u*m.width:(u+1)*m.width], items, halves)
	}
}

// passUser does the ratings of one user.
func (m *Model) passUser(user []float32, items []uint32, halves []uint8) {
	halves = halves[:len(items)]
	mean := float32(m.facts.Mean)
	userPull := float32(shrink / float64(len(items)))
	biasAt := len(user) - 1
	p := user[:biasAt]
	for i, number := range items {
		item := m.item(number)[:len(user)]
		e := float32(halves[i])/2 - mean - predict(user, item)
		itemPull, factorStep := m.steps.pull[number], m.steps.factor[number]
		user[biasAt] += userStep * (e - userPull*user[biasAt])
		item[biasAt] += m.steps.bias[number] * (e - itemPull*item[biasAt])
		move(p, item[:len(p)], e, userPull, itemPull, factorStep)
	}
}

// move takes one step on the factors p of a user and q of an item.
func move(p, q []float32, e, userPull, itemPull, itemStep float32) {
	q = q[:len(p)]
	for k, pk := range p {
		qk := q[k]
		p[k] = pk + userStep*(e*qk-userPull*pk)
		q[k] = qk + itemStep*(e*pk-itemPull*qk)
	}
}

// predict returns what is to be added to the mean: both biases, and the product
// of the factors.
func predict(user, item []float32) float32 {
	last := len(user) - 1
	item = item[:len(user)]
	p, q := user[:last], item[:last]
	q = q[:len(p)]
	// Four sums hide the latency of the additions.
	var s0, s1, s2, s3 float32
	for len(p) >= 4 && len(q) >= 4 {
		s0 += p[0] * q[0]
		s1 += p[1] * q[1]
		s2 += p[2] * q[2]
		s3 += p[3] * q[3]
		p, q = p[4:], q[4:]
	}
	for k := range min(len(p), len(q)) {
		s0 += p[k] * q[k]
	}
	return (s0 + s1) + (s2 + s3) + user[last] + item[last]
}

// Package model is a small learner that any number of workers can train together: softmax
// regression on points around ten centers, with ballast to be of any size.
//
// Everything follows from a seed, so that a run can be repeated by one process and compared
// bit by bit. Workers draw their points themselves; no two draw the same.
package model

import (
	"fmt"
	"math"
	"math/rand/v2"
)

const (
	features = 20
	classes  = 10
	// Own is how many parameters the classifier has: weights and an offset for each class.
	Own = classes * (features + 1)

	// Rate is how far a step goes along the average gradient.
	Rate = 0.25

	heldOut = 400 // points that the loss is measured on
	spread  = 2.0 // of the points around their center, whose coordinates are of size 1
)

// Limit bounds the elements of gradients that Gradient computes; a power of two.
const Limit = 8

// A Model is the task that is learned, and how. It does not change after New and may be
// used by many goroutines at once.
type Model struct {
	seed    uint64
	size    int
	batch   int
	centers [classes][features]float32
	test    []point
}

type point struct {
	x     [features]float32
	class int
}

// New makes the task of a seed for vectors of size parameters, at least Own, of which what
// is beyond Own is ballast: it is pulled to fixed values, so that every element of every
// gradient matters to the result. Each gradient is the mean over batch points.
func New(seed uint64, size, batch int) (*Model, error) {
	if size < Own || batch < 1 {
		return nil, fmt.Errorf("%d parameters and batches of %d points; want at least %d and 1", size, batch, Own)
	}
	m := &Model{seed: seed, size: size, batch: batch}
	r := rand.New(rand.NewPCG(seed, 0))
	for c := range m.centers {
		for f := range m.centers[c] {
			m.centers[c][f] = float32(r.NormFloat64())
		}
	}
	m.test = m.draw(r, heldOut)
	return m, nil
}

// draw makes points.
func (m *Model) draw(r *rand.Rand, count int) []point {
	points := make([]point, count)
	for i := range points {
		p := &points[i]
		p.class = r.IntN(classes)
		for f := range p.x {
			p.x[f] = m.centers[p.class][f] + spread*float32(r.NormFloat64())
		}
	}
	return points
}

// Initial are the parameters to begin with.
func (m *Model) Initial() []float32 { return make([]float32, m.size) }

// Gradient stores in grad, of the model's size, the gradient at params on the points that
// a worker draws for its step-th one, counted from 0. Both are numbers of the program.
func (m *Model) Gradient(grad, params []float32, worker, step int) {
	r := source(m.seed, worker, step)
	var sums [Own]float64
	for _, p := range m.draw(r, m.batch) {
		prob := classify(params, &p.x)
		prob[p.class]--
		for c, d := range prob {
			at := sums[c*(features+1):][:features+1]
			for f, x := range p.x {
				at[f] += d * float64(x)
			}
			at[features] += d
		}
	}
	for i, s := range sums {
		grad[i] = float32(s / float64(m.batch))
	}
	m.ballast(grad, params, uint32(worker), uint32(step))
}

// source is what a worker draws the points of a step from.
func source(seed uint64, worker, step int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(worker+1)<<32|uint64(step)))
}

// ballast fills what is beyond the classifier: the way to each element's fixed value, and
// a little that tells workers and steps apart.
func (m *Model) ballast(grad, params []float32, worker, step uint32) {
	mark := worker*40503 + step*30011
	for i := Own; i < m.size; i++ {
		h := uint32(i) * 2654435761
		goal := float32(h>>24)/128 - 1
		noise := float32((h^mark)&15)/64 - 0.125
		grad[i] = params[i] - goal + noise
	}
}

// classify is the probability of each class for a point.
func classify(params []float32, x *[features]float32) (prob [classes]float64) {
	top := math.Inf(-1)
	for c := range prob {
		at := params[c*(features+1):][:features+1]
		sum := float64(at[features])
		for f, v := range x {
			sum += float64(at[f] * v)
		}
		prob[c] = sum
		top = max(top, sum)
	}
	var total float64
	for c := range prob {
		prob[c] = math.Exp(prob[c] - top)
		total += prob[c]
	}
	for c := range prob {
		prob[c] /= total
	}
	return prob
}

// Apply moves params along the sum of so many gradients.
func (m *Model) Apply(params, sum []float32, gradients int) {
	rate := Rate / float32(gradients)
	for i, g := range sum {
		params[i] -= float32(rate * g)
	}
}

// Loss is the mean cross-entropy on held-out points, and the part of them that is
// classified right.
func (m *Model) Loss(params []float32) (loss, right float64) {
	for i := range m.test {
		p := &m.test[i]
		prob := classify(params, &p.x)
		loss -= math.Log(max(prob[p.class], 1e-30)) / heldOut
		best := 0
		for c, q := range prob {
			if q > prob[best] {
				best = c
			}
		}
		if best == p.class {
			right += 1.0 / heldOut
		}
	}
	return loss, right
}

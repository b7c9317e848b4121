package model

import (
	"math"
	"testing"
)

// TestGradientIsThatOfTheLoss compares it with differences of the batch's cross-entropy.
func TestGradientIsThatOfTheLoss(t *testing.T) {
	m, err := New(3, Own, 5)
	if err != nil {
		t.Fatal(err)
	}
	params := m.Initial()
	for i := range params {
		params[i] = float32(math.Sin(float64(i))) / 10
	}
	grad := make([]float32, Own)
	m.Gradient(grad, params, 2, 7)
	points := m.draw(source(m.seed, 2, 7), 5)
	loss := func() (sum float64) {
		for i := range points {
			prob := classify(params, &points[i].x)
			sum -= math.Log(prob[points[i].class]) / float64(len(points))
		}
		return sum
	}
	const h = 1.0 / 256
	for i := range params {
		was := params[i]
		params[i] = was + h
		up := loss()
		params[i] = was - h
		down := loss()
		params[i] = was
		if want := (up - down) / (2 * h); math.Abs(float64(grad[i])-want) > 1e-3 {
			t.Errorf("element %d of the gradient is %v, differences say %v", i, grad[i], want)
		}
	}
}

// TestReplayLearns trains alone: the loss falls and the ballast goes where it should.
func TestReplayLearns(t *testing.T) {
	const workers, size = 3, Own + 1000
	m, err := New(1, size, 16)
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]Step, 60)
	for i := range steps {
		steps[i] = Step{i % workers, (i + 1) % workers}
	}
	before, _ := m.Loss(m.Initial())
	params := m.Replay(workers, steps, func([]float32) {})
	after, right := m.Loss(params)
	if math.Abs(before-math.Log(classes)) > 1e-6 || after > 1.2 || right < 0.55 {
		t.Errorf("the loss goes from %v to %v, %v of the points are right", before, after, right)
	}
	same := true
	for _, x := range params[Own:] {
		if math.Abs(float64(x)) > 1.5 {
			t.Fatalf("ballast of %v", x)
		}
		same = same && x == params[Own]
	}
	if same {
		t.Error("all ballast is the same, which would hide elements that change places")
	}
}

// TestWorkersAndStepsDiffer sees that no two gradients are equal, in the classifier and in
// the ballast: what is counted twice or not at all must show.
func TestWorkersAndStepsDiffer(t *testing.T) {
	m, err := New(1, Own+100, 4)
	if err != nil {
		t.Fatal(err)
	}
	params := m.Initial()
	seen := map[[2]float32]bool{}
	for worker := range 8 {
		for step := range 8 {
			grad := make([]float32, Own+100)
			m.Gradient(grad, params, worker, step)
			sum := [2]float32{}
			for i, g := range grad {
				if i < Own {
					sum[0] += g * float32(i%13)
				} else {
					sum[1] += g * float32(i%13)
				}
			}
			if seen[sum] {
				t.Errorf("worker %d, step %d has a gradient that another has", worker, step)
			}
			seen[sum] = true
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct{ size, batch int }{{Own - 1, 1}, {0, 1}, {Own, 0}} {
		if _, err := New(1, c.size, c.batch); err == nil {
			t.Errorf("%d parameters and batches of %d are accepted", c.size, c.batch)
		}
	}
}

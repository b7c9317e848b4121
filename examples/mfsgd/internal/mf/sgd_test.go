package mf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
)

// TestPredict compares the unrolled product with the plain sum for every number
// of factors around the unrolling.
func TestPredict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for factors := 1; factors <= 33; factors++ {
		user, item := make([]float32, factors+1), make([]float32, factors+1)
		for k := range user {
			user[k], item[k] = rng.Float32()-0.5, rng.Float32()-0.5
		}
		want := float64(user[factors]) + float64(item[factors])
		for k := range factors {
			want += float64(user[k]) * float64(item[k])
		}
		if got := float64(predict(user, item)); math.Abs(got-want) > 1e-5 {
			t.Errorf("%d factors: got %v, want %v", factors, got, want)
		}
	}
}

// TestMoveFollowsTheGradient compares one step with the slope of the loss,
// measured by moving each factor a little.
func TestMoveFollowsTheGradient(t *testing.T) {
	const rating, userPull, itemPull, itemStep = 0.7, 0.3, 0.2, 0.01
	p, q := []float32{0.3, -0.2, 0.5}, []float32{0.1, 0.4, -0.6}
	loss := func(p, q []float32) float64 {
		e, pp, qq := float64(rating), 0.0, 0.0
		for k := range p {
			e -= float64(p[k]) * float64(q[k])
			pp += float64(p[k]) * float64(p[k])
			qq += float64(q[k]) * float64(q[k])
		}
		return (e*e + userPull*pp + itemPull*qq) / 2
	}
	slope := func(x *float32) float64 {
		const h = 1e-3
		old := *x
		*x = old + h
		up := loss(p, q)
		*x = old - h
		down := loss(p, q)
		*x = old
		return (up - down) / (2 * h)
	}
	var wantP, wantQ [3]float64
	for k := range p {
		wantP[k] = float64(p[k]) - userStep*slope(&p[k])
		wantQ[k] = float64(q[k]) - itemStep*slope(&q[k])
	}
	e := float32(rating) - p[0]*q[0] - p[1]*q[1] - p[2]*q[2]
	move(p, q, e, userPull, itemPull, itemStep)
	for k := range p {
		if math.Abs(float64(p[k])-wantP[k]) > 1e-4 || math.Abs(float64(q[k])-wantQ[k]) > 1e-4 {
			t.Errorf("factor %d: got %v and %v, want %v and %v", k, p[k], q[k], wantP[k], wantQ[k])
		}
	}
}

// TestStepsShareOut holds what makes the sum of many ranks' updates stable: all
// ratings of an item together move it by no more than the reach, and for large
// slacks by no more than the stability limit of a delayed correction.
func TestStepsShareOut(t *testing.T) {
	counts := []int64{0, 1, 2, 5, 10, 100, 10_000, 1_000_000}
	for _, slack := range []int{0, 1, 2, 8, 32, 64, 1000} {
		s := newSteps(Facts{ItemCount: counts}, slack)
		limit := 2 * math.Sin(math.Pi/(2*(2*float64(slack)+1)))
		for i, n := range counts {
			// A rating pulls on a bias by its error, and every rating by its share of shrink.
			bias := float64(n) * float64(s.bias[i]) * (1 + float64(s.pull[i]))
			factor := float64(n) * float64(s.factor[i]) * (factorPull + float64(s.pull[i]))
			for name, f := range map[string]float64{"bias": bias, "factor": factor} {
				if f > itemReach*1.001 || slack > 0 && f >= limit {
					t.Errorf("slack %d, %d ratings: one iteration moves a %s by %.4f of the way; reach %v, limit %.4f", slack, n, name, f, itemReach, limit)
				}
				if (n == 0) != (f == 0) {
					t.Errorf("slack %d, %d ratings: one iteration moves a %s by %.4f of the way", slack, n, name, f)
				}
			}
		}
	}
}

// TestSquaredErrorCuts sees that predictions beyond the scale count as its ends.
func TestSquaredErrorCuts(t *testing.T) {
	var b ratings.Builder
	b.AddUser(1)
	b.Add(0, 0, 10, true)
	b.Add(0, 0, 1, true)
	shard := b.Build()
	shard.Items = 1
	m := New(shard, Facts{Mean: 3, ItemCount: []int64{0}}, Config{Factors: 2, Seed: 1})
	m.users[2] = 100
	if got := m.SquaredError(); got != 4.5*4.5 {
		t.Errorf("far above the scale: %v, want %v", got, 4.5*4.5)
	}
	m.users[2] = float32(math.NaN())
	if got := m.SquaredError(); !math.IsNaN(got) {
		t.Errorf("not a number: %v, want NaN", got)
	}
}

func BenchmarkPass(b *testing.B) {
	shape, err := synth.ParseShape("ml-25m/100")
	if err != nil {
		b.Fatal(err)
	}
	shard, err := synth.Generate(shape, ratings.Part{Ranks: 1, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, factors := range []int{8, 16, 64} {
		b.Run(fmt.Sprintf("factors=%d", factors), func(b *testing.B) {
			m := New(shard, factsOf([]*ratings.Shard{shard}), Config{Factors: factors, Seed: 1})
			b.ReportAllocs()
			for b.Loop() {
				m.Pass()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shard.Train.Len()), "ns/rating")
		})
	}
}

package loop

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A Loop is what ranks do: compute, reduce, again and again.
type Loop struct {
	Ranks, Iterations int
	Bytes             int           // of the vector
	Compute           time.Duration // on average
	// Spread is the standard deviation of the logarithm of the time of computing. The
	// paper's jitter is that of its cluster, which it does not state.
	Spread float64
	Slacks []int
	Link   string // what is emulated, if anything
	// Machine is for the simulation.
	Machine price.Machine
}

// calmed is the loop where all ranks compute for the same time.
func (l *Loop) calmed() *Loop {
	with := *l
	with.Spread = 0
	return &with
}

// pauses are how long one rank computes in each iteration, in seconds, the same for the
// same rank.
func (l *Loop) pauses(rank int) []float64 {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, uint64(rank)))
	all := make([]float64, l.Iterations)
	for i := range all {
		// exp(N(mu, s)) has the mean exp(mu + s*s/2).
		all[i] = l.Compute.Seconds() * math.Exp(l.Spread*rng.NormFloat64()-l.Spread*l.Spread/2)
	}
	return all
}

// A Row is what came of a loop with one slack, or with a ring, on average over ranks
// and iterations; times are seconds.
type Row struct {
	Call, Wait float64
	Rate       float64 // iterations per second
}

// A Measured is a loop that was run: a row for each slack, and that of the ring, whose
// waiting nobody knows.
type Measured struct {
	Loop
	Stale []Row
	Ring  Row
	// Calm are slack 0 and the ring where all ranks compute for the same time, so that
	// nobody waits for anybody but the links.
	Calm    [2]Row
	Setting string // how ranks were run; empty for a simulation
	Doubt   string // why the times cannot be trusted, empty if they can
}

// elementBytes is the size of a float64, of which vectors are made.
const elementBytes = 8

// cacheLine is the length in bytes of a cache line of the simulated processors.
const cacheLine = 64

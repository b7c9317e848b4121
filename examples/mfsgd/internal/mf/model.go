package mf

import (
	"math"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
)

// Extra elements at the end of the exchanged vector; see the package comment.
const (
	extraError = iota // sum of squared errors over the rank's held-out ratings
	extraCount        // how many those are
	extraStop         // the call that was enough, negative if the model diverged; 0 while unknown
	extras
)

// Facts are what a rank must know about the ratings of all ranks.
type Facts struct {
	Mean      float64 // mean training rating, in stars
	ItemCount []int64 // training ratings of each item
}

// Config shapes the model. Every rank passes the same values.
type Config struct {
	Factors int    // factors per user and item, at least 1
	Seed    uint64 // of the initial factors
	Slack   int    // of the exchange; very large ones shorten the steps, see newSteps
}

// A Model is one rank's part of the factorization: its own users, and its view
// of the items. It is not safe for concurrent use.
type Model struct {
	shard *ratings.Shard
	facts Facts
	steps steps
	rank  int // factors per user and item
	width int // elements per user or item: its factors, then its bias

	users []float32 // width elements per local user
	items []float32 // width elements per item: the view, changed in place by Pass

	initial []float32 // the items' common start
	known   []float32 // the items when the iteration began, to see what Pass changed
	mine    []float32 // the rank's accumulated update, then the extras
}

// New returns a model at its start: small random factors that depend on the seed
// and on the user or item alone, no biases, no update.
func New(shard *ratings.Shard, facts Facts, cfg Config) *Model {
	width := cfg.Factors + 1
	n := shard.Items * width
	m := &Model{
		shard:   shard,
		facts:   facts,
		steps:   newSteps(facts, cfg.Slack),
		rank:    cfg.Factors,
		width:   width,
		users:   make([]float32, len(shard.Users)*width),
		items:   make([]float32, n),
		initial: make([]float32, n),
		known:   make([]float32, n),
		mine:    make([]float32, n+extras),
	}
	for i := range shard.Items {
		m.start(m.initial, i, rand.NewPCG(cfg.Seed, uint64(i)))
	}
	for u, name := range shard.Users {
		m.start(m.users, u, rand.NewPCG(^cfg.Seed, name))
	}
	copy(m.items, m.initial)
	copy(m.known, m.initial)
	return m
}

// start draws the initial factors of one user or item. They must differ from
// zero, where the product has no slope, and be small beside a star.
func (m *Model) start(table []float32, index int, src rand.Source) {
	const productSD = 0.1 // of the product of a user's and an item's factors, in stars
	sd := math.Sqrt(productSD / math.Sqrt(float64(m.rank)))
	rng := rand.New(src)
	for k := range m.rank {
		table[index*m.width+k] = float32(sd * rng.NormFloat64())
	}
}

// VectorLen returns the number of elements that ranks exchange.
func VectorLen(items, factors int) int { return items*(factors+1) + extras }

// contribution returns the vector to put into the sum: the accumulated update,
// to which it adds what Pass changed since adopt, and the extras. It is valid
// until the next call and belongs to m.
func (m *Model) contribution(squaredError float64, stop int) []float32 {
	update := m.mine[:len(m.items)]
	known := m.known[:len(update)]
	for i, now := range m.items[:len(update)] {
		update[i] += now - known[i]
	}
	m.mine[len(update)+extraError] = float32(squaredError)
	m.mine[len(update)+extraCount] = float32(m.shard.Held.Len())
	m.mine[len(update)+extraStop] = float32(stop)
	return m.mine
}

// adopt makes the sum of all ranks' updates the rank's view of the items and
// returns what the extras say. It borrows sum until it returns.
func (m *Model) adopt(sum []float32) (rmse float64, stop int) {
	n := len(m.items)
	update, extra := sum[:n], sum[n:n+extras]
	initial, known := m.initial[:n], m.known[:n]
	for i, u := range update {
		known[i] = initial[i] + u
	}
	copy(m.items, known)
	// With slack, ranks may not have been heard yet; the error is that of the others.
	return math.Sqrt(float64(extra[extraError]) / float64(extra[extraCount])), int(extra[extraStop])
}

// SquaredError returns the sum of squared errors over the rank's held-out
// ratings, in stars squared. Predictions are cut at the ends of the scale. It is
// NaN if the model is.
func (m *Model) SquaredError() float64 {
	var sum float64
	mean := float32(m.facts.Mean)
	for u := range m.shard.Users {
		user := m.users[u*m.width : (u+1)*m.width]
		items, halves := m.shard.Held.User(u)
		for i, item := range items {
			predicted := mean + predict(user, m.item(item))
			// Cutting by comparison lets NaN through; min and max would do so too.
			e := float32(halves[i])/2 - min(max(predicted, 0.5), ratings.MaxHalves/2)
			sum += float64(e) * float64(e)
		}
	}
	return sum
}

// item returns the view of one item: its factors, then its bias.
func (m *Model) item(i uint32) []float32 {
	at := int(i) * m.width
	return m.items[at : at+m.width : at+m.width]
}

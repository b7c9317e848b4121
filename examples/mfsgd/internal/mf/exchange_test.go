package mf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/ratings"
	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/synth"
)

// A hub is an exchange between goroutines that decides for itself how stale
// contributions are. It waits for a contribution where it must, so a rank that
// stops calling too early is a deadlock, as it would be with package ssp.
type hub struct {
	mu     sync.Mutex
	posted *sync.Cond
	past   [][][]float32 // [rank][call-1]: what was contributed

	// age says how many calls old the contribution of rank from is that rank to
	// uses in a call.
	age func(to, from, call int) int
}

func newHub(ranks int, age func(to, from, call int) int) *hub {
	h := &hub{past: make([][][]float32, ranks), age: age}
	h.posted = sync.NewCond(&h.mu)
	return h
}

// exact is the age of contributions in an exchange without slack.
func exact(to, from, call int) int { return 0 }

// oldest is the worst that a slack allows, in every call.
func oldest(slack int) func(to, from, call int) int {
	return func(to, from, call int) int { return slack }
}

// mixed varies between nothing and the slack, by rank and call.
func mixed(slack int) func(to, from, call int) int {
	return func(to, from, call int) int { return (to*7 + from*13 + call*5) % (slack + 1) }
}

// join returns the exchange as rank sees it.
func (h *hub) join(rank int) VectorSum {
	var sum []float32
	call := 0
	return func(ctx context.Context, mine []float32) (Sum, error) {
		call++
		h.mu.Lock()
		h.past[rank] = append(h.past[rank], slices.Clone(mine))
		h.posted.Broadcast()
		h.mu.Unlock()
		sum = append(sum[:0], make([]float32, len(mine))...)
		oldest := call
		for from := range h.past {
			used := call
			if from != rank {
				used = max(call-h.age(rank, from, call), 0)
			}
			h.add(sum, from, used)
			oldest = min(oldest, used)
		}
		return Sum{Values: sum, Oldest: int64(oldest)}, ctx.Err()
	}
}

// add waits for a contribution and adds it to sum. Call 0 stands for the time before the first, when
// nothing was contributed.
func (h *hub) add(sum []float32, from, call int) {
	if call == 0 {
		return
	}
	h.mu.Lock()
	for len(h.past[from]) < call {
		h.posted.Wait()
	}
	theirs := h.past[from][call-1]
	h.mu.Unlock()
	for i, v := range theirs {
		sum[i] += v
	}
}

// A job is what the ranks of one test have in common.
type job struct {
	shape      synth.Dimensions
	ranks      int
	factors    int
	plan       RunOptions
	age        func(to, from, call int) int
	seed       uint64
	afterStart func(rank int, m *Model)
}

// run runs a job and returns each rank's outcome, error and model.
func (j job) run(t testing.TB) ([]Outcome, []error, []*Model) {
	t.Helper()
	shards := make([]*ratings.Shard, j.ranks)
	for rank := range j.ranks {
		s, err := synth.Generate(j.shape, ratings.Part{Rank: rank, Ranks: j.ranks, Seed: j.seed})
		if err != nil {
			t.Fatal(err)
		}
		shards[rank] = s
	}
	facts := factsOf(shards)
	h := newHub(j.ranks, j.age)
	outs, errs, models := make([]Outcome, j.ranks), make([]error, j.ranks), make([]*Model, j.ranks)
	var all sync.WaitGroup
	for rank := range j.ranks {
		models[rank] = New(shards[rank], facts, Config{Factors: j.factors, Seed: j.seed, Slack: j.plan.Slack})
		if j.afterStart != nil {
			j.afterStart(rank, models[rank])
		}
		plan := j.plan
		plan.Leader = rank == 0
		all.Go(func() { outs[rank], errs[rank] = Run(t.Context(), models[rank], h.join(rank), plan) })
	}
	all.Wait()
	return outs, errs, models
}

// factsOf adds up what the shards of all ranks hold.
func factsOf(shards []*ratings.Shard) Facts {
	f := Facts{ItemCount: make([]int64, shards[0].Items)}
	var sum, count float64
	for _, s := range shards {
		for i, item := range s.Train.Item {
			f.ItemCount[item]++
			sum += float64(s.Train.Half[i]) / 2
			count++
		}
	}
	f.Mean = sum / count
	return f
}

// finalRMSE is the held-out error of the models of all ranks.
func finalRMSE(models []*Model) float64 {
	var sum, count float64
	for _, m := range models {
		sum += m.SquaredError()
		count += float64(m.shard.Held.Len())
	}
	return math.Sqrt(sum / count)
}

// firstError returns the error of the lowest rank that has one.
func firstError(errs []error) error {
	for rank, err := range errs {
		if err != nil {
			return errors.Join(fmt.Errorf("rank %d", rank), err)
		}
	}
	return nil
}

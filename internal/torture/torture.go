package torture

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// JobOptions say what a job does, the same on all ranks.
type JobOptions struct {
	Seed       uint64        // what everything random follows from
	Families   []string      // those that rounds are made of
	Duration   time.Duration // no round begins later than this after the first
	First      uint64        // the first round
	Goroutines int           // ranks that are goroutines of this process
	Rounds     uint64        // at most so many; zero means no limit
	Limit      time.Duration // how long a round may take; zero means DefaultLimit
	Whole      bool          // no context is cut short
	Mutant     string        // the mutant that is active; empty for none
}

// DefaultLimit is what an Options.Limit of zero means: far more than a round needs on a
// machine that is busy with other things.
const DefaultLimit = 2 * time.Minute

// A RankReport says what a rank has done.
type RankReport struct {
	Rounds     uint64
	Operations map[string]uint64 // by family
	PeakMiB    uint64            // of memory, of the whole process
}

// roundKind is one kind of round, run by all members of a scene.
type roundKind func(ctx context.Context, s *scene) error

// families returns all families by name.
func families() map[string]roundKind {
	all := map[string]roundKind{
		"memory":        memory,
		"recreate":      recreate,
		"anew":          anew,
		"atomics":       atomics,
		"passive":       passive,
		"notifications": notifications,
		"groups":        groups,
		"collectives":   collective,
		"vforms":        vforms,
		"forced":        forced,
		"teams":         teams,
		"stale":         stale,
		"objects":       objects,
		"refusals":      refusals,
		"edges":         edges,
	}
	all["together"] = together
	return all
}

// Families returns the names of all families, sorted.
func Families() []string { return slices.Sorted(maps.Keys(families())) }

// Config returns the configuration that the ranks of a job use: small queues, small
// messages and the like come from the seed.
func Config(seed uint64) gaspi.Config {
	rng := stream(seed, keyConfig)
	return gaspi.Config{
		QueueDepth:    pick(rng, 8, 33, 256, 1024),
		PassiveMax:    pick(rng, 64, 1000, 20_000, 65_535),
		TransferMax:   8 << 20,
		Notifications: pick[uint32](rng, 512, 4096, 65_536),
		Segments:      pick(rng, 128, 1024),
		Groups:        1024, // a Split that ends early keeps some for ever
		ListMax:       pick(rng, 8, 64, 255),
	}
}

// rankJob is what a rank keeps from round to round.
type rankJob struct {
	JobOptions
	p     *gaspi.Proc
	early atomic.Int64 // Splits of the round that ended early
	mu    sync.Mutex
	count map[string]uint64 // guarded by mu; operations by family
}

// Run runs the rounds of one rank. It returns the first thing that was not as the model
// has it, with round and family.
func Run(ctx context.Context, p *gaspi.Proc, o JobOptions) (RankReport, error) {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	j := &rankJob{JobOptions: o, p: p, count: map[string]uint64{}}
	begin := time.Now()
	n := o.First
	for ; o.Rounds == 0 || n < o.First+o.Rounds; n++ {
		over, err := j.over(ctx, time.Since(begin) >= o.Duration)
		if err != nil {
			return RankReport{}, fmt.Errorf("before round %d: %w", n, err)
		}
		if over {
			break
		}
		if err := j.round(ctx, n); err != nil {
			return RankReport{}, err
		}
	}
	peak, err := checkSize(o.Goroutines)
	return RankReport{Rounds: n - o.First, Operations: j.count, PeakMiB: peak}, err
}

// over reports whether rank 0 says that the time is over.
func (j *rankJob) over(ctx context.Context, late bool) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, j.Limit)
	defer cancel()
	word := []uint32{0}
	if late && j.p.Rank() == 0 {
		word[0] = 1
	}
	err := gaspi.AllReduce(ctx, j.p.World(), word, word, gaspi.Max)
	return word[0] == 1, err
}

// round runs one round under a watch, and checks that it gives back what it took.
func (j *rankJob) round(ctx context.Context, n uint64) error {
	plan := stream(j.Seed, keyRound, n)
	name := pick(plan, j.Families...)
	run := families()[name]
	if run == nil {
		return fmt.Errorf("no family is called %q; there are %v", name, Families())
	}
	s := &scene{rankJob: j, family: name, key: plan.Uint64(), g: j.p.World()}
	s.begin()
	before := holdingsOf(j.p)
	what := fmt.Sprintf("round %d, %s", n, name)
	ctx, end := watch(ctx, j.Limit, fmt.Sprintf("seed %d, rank %d, %s", j.Seed, j.p.Rank(), what))
	defer end()
	err := s.harness(ctx, run)
	if err != nil {
		if late := context.Cause(ctx); late != nil {
			err = fmt.Errorf("%w: %w", late, err)
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	after := holdingsOf(j.p)
	if kept := after.groups - before.groups; kept > 0 && kept <= keptGroups*int(j.early.Swap(0)) {
		after.groups = before.groups
	}
	if after != before {
		return fmt.Errorf("%s: the rank holds %s after it, %s before", what, after, before)
	}
	return nil
}

// harness runs the family, and what the mutants of the harness do.
func (s *scene) harness(ctx context.Context, run roundKind) error {
	if s.mutant(mutantHang) {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.mutant(mutantSegment) {
		if _, err := s.p.AllocSegment(s.base+segmentsPerScene-1, 8); err != nil {
			return err
		}
	}
	return s.guard(ctx, run)
}

// did counts n operations of a family.
func (j *rankJob) did(family string, n uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.count[family] += n
}

// pick returns one of several values.
func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// together runs several families in goroutines of their own at the same time, each over a
// group of its own, of some or all ranks. These groups are made one after the other, as they
// may have equal ranks; whatever the families make after that, they make at the same time.
func together(ctx context.Context, s *scene) error {
	names := []string{"memory", "recreate", "anew", "atomics", "passive", "notifications", "groups", "collectives", "teams", "stale", "objects"}
	s.plan.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	names = names[:2+s.plan.IntN(3)]
	rng := s.own()
	var subs []*scene
	var tasks []func(ctx context.Context) error
	for i, name := range names {
		ranks, key := slices.Clone(s.members), s.plan.Uint64()
		if s.plan.IntN(2) == 0 {
			ranks = subset(s.plan, s.members)
		}
		sub, err := s.subgroup(ctx, rng, ranks, key)
		if err != nil {
			return err
		}
		if sub == nil {
			continue
		}
		sub.family, sub.scenes, sub.number = name, len(names), i
		sub.base += gaspi.SegmentID(segmentsPerScene * (i + 1))
		subs = append(subs, sub)
		tasks = append(tasks, func(ctx context.Context) error {
			if err := families()[name](ctx, sub); err != nil {
				return fmt.Errorf("%s, beside %v: %w", name, names, err)
			}
			return nil
		})
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	for _, sub := range subs {
		if err := sub.g.Delete(); err != nil {
			return err
		}
	}
	s.did(1)
	return nil
}

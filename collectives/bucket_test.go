package collectives_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestBucketReducesEachVector adds vectors of many lengths, which lie in one array, apart from each
// other, or in memory of the team, with pauses of each member's own.
func TestBucketReducesEachVector(t *testing.T) {
	const ranks = 3
	seed := seedOf(t)
	for _, transport := range []string{"loopback", "tcp"} {
		job := small
		job.Transport, job.Groups = transport, 16
		onTeamOf(t, job, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
			alloc, err := collectives.Alloc[int32](ctx, team, bucketVectors*100)
			if err != nil {
				return err
			}
			return playBuckets(ctx, team, seed, alloc)
		})
	}
}

// bucketVectors is how many vectors go through each bucket.
const bucketVectors = 200

// playBuckets plays a bucket for each kind of memory.
func playBuckets(ctx context.Context, team *collectives.Team, seed uint64, alloc []int32) error {
	me := team.Rank()
	plain := make([]int32, len(alloc))
	places := []func(at, n int) []int32{
		func(at, n int) []int32 { return alloc[at : at+n] },
		func(at, n int) []int32 { return plain[at : at+n] },
		func(_, n int) []int32 { return make([]int32, n) },
	}
	for round, place := range places {
		b, err := collectives.NewBucket[int32](ctx, team, collectives.Sum, collectives.BucketConfig{Size: 4000})
		if err != nil {
			return err
		}
		common, own := rand.New(rand.NewPCG(seed, uint64(round))), rand.New(rand.NewPCG(seed, uint64(10+me)))
		var (
			all     [][]int32
			entries []*collectives.BucketEntry[int32]
			at      int
		)
		for k := range bucketVectors {
			n := common.IntN(100)
			if k%50 == 7 && round == 2 {
				n = 3000 // longer than the bucket
			}
			x := place(at, n)
			at += n
			for i := range x {
				x[i] = int32(k + i*me)
			}
			e, err := b.Add(x)
			if err != nil {
				return err
			}
			all, entries = append(all, x), append(entries, e)
			switch own.IntN(20) {
			case 0:
				time.Sleep(time.Duration(own.IntN(2000)) * time.Microsecond) // sleep: members add at times of their own
			case 1:
				if err := entries[own.IntN(len(entries))].Wait(ctx); err != nil {
					return err
				}
			case 2:
				b.Flush()
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		for k, x := range all {
			<-entries[k].Done()
			if err := matches(fmt.Sprintf("round %d, vector %d", round, k), x, func(i int) int32 { return int32(3*k + 3*i) }); err != nil {
				return err
			}
		}
		if err := b.Close(ctx); err != nil {
			return err
		}
		if _, err := b.Add(nil); !errors.Is(err, gaspi.ErrClosed) {
			return fmt.Errorf("Add after Close: %v, want ErrClosed", err)
		}
	}
	return nil
}

// TestBucketKeepsItsLimits adds vectors by the clock of a bubble: they become one operation when they
// reach the size, and no later than the time after the first.
func TestBucketKeepsItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := small
		job.Groups = 16
		err := gaspi.Local(t.Context(), 3, job, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			const delay = time.Second
			b, err := collectives.NewBucket[float64](ctx, team, collectives.Sum, collectives.BucketConfig{Size: 800, Delay: delay})
			if err != nil {
				return err
			}
			add := func(vectors, elements int) (last *collectives.BucketEntry[float64], all [][]float64, err error) {
				for range vectors {
					x := vector(elements, func(i int) float64 { return float64(i) })
					if last, err = b.Add(x); err != nil {
						return nil, nil, err
					}
					all = append(all, x)
				}
				return last, all, nil
			}
			for _, c := range []struct {
				vectors, elements int
				flush             bool
				after             time.Duration
				operations        int
			}{
				{9, 10, false, delay, 1},  // 720 bytes wait
				{10, 10, false, 0, 1},     // 800 bytes do not
				{25, 10, false, delay, 3}, // two are full
				{3, 101, false, 0, 3},     // each longer than the size
				{4, 30, false, delay, 2},  // the fourth does not fit
				{4, 1, true, 0, 1},
			} {
				before := collectives.Begun(b)
				began := time.Now()
				last, all, err := add(c.vectors, c.elements)
				if err != nil {
					return err
				}
				if c.flush {
					b.Flush()
				}
				<-last.Done()
				if d := time.Since(began); d != c.after {
					return fmt.Errorf("%+v: reduced after %v", c, d)
				}
				letOthersSleep()
				if after := collectives.Begun(b); after-before != c.operations {
					return fmt.Errorf("%+v: %d operations", c, after-before)
				}
				for _, x := range all {
					if err := matches("sum", x, func(i int) float64 { return float64(3 * i) }); err != nil {
						return err
					}
				}
			}
			letOthersSleep()
			if n := serving(); n != 0 {
				return fmt.Errorf("%d goroutines make progress while nothing is under way", n)
			}
			letOthersSleep()
			return errors.Join(b.Close(ctx), collectives.Barrier(ctx, team))
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestBucketOfALateMember has a member add its vectors long after the others, and in other pieces of
// time: what all have added goes ahead.
func TestBucketOfALateMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := small
		job.Groups = 16
		err := gaspi.Local(t.Context(), 2, job, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			b, err := collectives.NewBucket[int64](ctx, team, collectives.Max, collectives.BucketConfig{})
			if err != nil {
				return err
			}
			var entries []*collectives.BucketEntry[int64]
			for k := range 10 {
				if p.Rank() == 1 && k%5 == 0 {
					letOthersSleep()
				}
				e, err := b.Add([]int64{int64(k)})
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			began := time.Now()
			if err := entries[4].Wait(ctx); err != nil {
				return err
			}
			if p.Rank() == 0 && time.Since(began) > longSleep*3/2 {
				return errors.New("the first vectors waited for the last ones")
			}
			if err := entries[9].Wait(ctx); err != nil {
				return err
			}
			return b.Close(ctx)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestBucketNamesDeadRank has a rank return with an error while vectors of the others are under way.
func TestBucketNamesDeadRank(t *testing.T) {
	const ranks, victim = 3, 1
	cfg := small
	cfg.KeepGoing, cfg.Groups = true, 16
	var met, seen sync.WaitGroup // the victim dies when all have met; nobody leaves before all have seen it
	met.Add(ranks)
	seen.Add(ranks - 1)
	err := gaspi.Local(testenv.Context(t), ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		var b *collectives.Bucket[int64]
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err == nil {
			b, err = collectives.NewBucket[int64](ctx, team, collectives.Sum, collectives.BucketConfig{})
		}
		if err == nil {
			err = collectives.Barrier(ctx, team)
		}
		met.Done()
		met.Wait()
		if p.Rank() == victim {
			return cmp.Or(err, errDied)
		}
		defer seen.Wait()
		defer seen.Done()
		if err != nil {
			return err
		}
		e, err := b.Add(make([]int64, 10))
		if err != nil {
			return err
		}
		if err := names(e.Wait(ctx), victim); err != nil {
			return err
		}
		if _, err := b.Add(make([]int64, 10)); names(err, victim) != nil {
			return fmt.Errorf("Add afterwards: %v", err)
		}
		return names(b.Close(ctx), victim)
	})
	if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
		t.Error(err)
	}
}

// TestBucketOfEmptyVectors adds vectors behind an empty one, which lies at another place at each member. The size has
// no limit.
func TestBucketOfEmptyVectors(t *testing.T) {
	job := small
	job.Groups = 16
	onTeamOf(t, job, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		heap, err := collectives.Alloc[int32](ctx, team, 8)
		if err != nil {
			return err
		}
		b, err := collectives.NewBucket[int32](ctx, team, collectives.Sum, collectives.BucketConfig{Size: math.MaxInt})
		if err != nil {
			return err
		}
		empty := [][]int32{nil, heap[:0]}[team.Rank()]
		for i := range heap {
			heap[i] = int32(i)
		}
		for _, x := range [][]int32{empty, heap[:3], heap[3:8]} {
			if _, err := b.Add(x); err != nil {
				return err
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		if err := matches("vectors behind an empty one", heap, func(i int) int32 { return int32(2 * i) }); err != nil {
			return err
		}
		return b.Close(ctx)
	})
}

// TestBucketRefusals makes buckets that cannot be.
func TestBucketRefusals(t *testing.T) {
	onTeam(t, 2, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		if _, err := collectives.NewBucket[float32](ctx, team, collectives.Xor, collectives.BucketConfig{}); err == nil {
			return errors.New("a bucket of an operation that the elements do not have")
		}
		if _, err := collectives.NewBucket[float32](ctx, team, collectives.Sum, collectives.BucketConfig{Size: -1}); !errors.Is(err, gaspi.ErrOutOfRange) {
			return fmt.Errorf("a negative size: %v", err)
		}
		return collectives.Barrier(ctx, team)
	})
}

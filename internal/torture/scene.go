package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Keys tell streams of random numbers apart.
const (
	keyConfig uint64 = iota
	keyRound
	keyPlan
	keyOwn
	keyPair
	keyData
	keyCall
	keyObject
)

// A scene is one family at work over one group. Several may be under way at a time, each
// with a group, with segments and with random numbers of its own.
type scene struct {
	*rankJob
	family  string
	g       *gaspi.Group // over which everything collective of the scene is done
	base    gaspi.SegmentID
	key     uint64 // the seed of the scene, the same on all members
	plan    *rand.Rand
	members []gaspi.Rank
	me      int // the index of this rank in members

	// Of so many scenes that are under way at a time this is the one with that number. Groups
	// of equal ranks match by order, so that each list of ranks belongs to one scene.
	scenes, number int
}

// segmentsPerScene is how many segment ids a scene has for itself, from base.
const segmentsPerScene = 8

// begin fills in what follows from group and key.
func (s *scene) begin() {
	s.plan = stream(s.key, keyPlan)
	s.members = s.g.Ranks()
	s.me = slices.Index(s.members, s.p.Rank())
}

// groupable reports whether the scene may make groups of some ranks.
func (s *scene) groupable(ranks []gaspi.Rank) bool {
	var list uint64
	for _, r := range ranks {
		list += mix(uint64(r))
	}
	return s.scenes == 0 || list%uint64(s.scenes) == uint64(s.number)
}

// own is a stream of this rank's random numbers, another for each number.
func (s *scene) own(number ...uint64) *rand.Rand {
	return stream(append([]uint64{s.key, keyOwn, uint64(s.me)}, number...)...)
}

// did counts n operations.
func (s *scene) did(n int) { s.rankJob.did(s.family, uint64(n)) }

// mutant reports whether the mutant of that name is active in this scene. It harms one
// rank alone, the last.
func (s *scene) mutant(name string) bool {
	return s.Mutant == s.family+"/"+name && s.me == len(s.members)-1
}

// guard runs a family; a panic is an error with a stack.
func (s *scene) guard(ctx context.Context, run roundKind) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("panic: %v\n%s", bug, debug.Stack())
		}
	}()
	return run(ctx, s)
}

// parallel runs tasks in goroutines of their own and returns the first error, which
// cancels the others.
func parallel(ctx context.Context, tasks ...func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var once sync.Once
	var first error
	for _, task := range tasks {
		all.Go(func() {
			guarded := func(ctx context.Context, _ *scene) error { return task(ctx) }
			if err := (*scene)(nil).guard(ctx, guarded); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	all.Wait()
	return first
}

// timeLimit reports whether an error is that of a context.
func timeLimit(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// gaveUp reports whether a call that got short, a part of ctx, ended because short did.
func gaveUp(ctx, short context.Context, err error) bool {
	return timeLimit(err) && short.Err() != nil && ctx.Err() == nil
}

// cut returns a context that has ended, that ends soon, or that does not end before ctx.
// The more attempts were made, the longer it lasts.
func (s *scene) cut(ctx context.Context, rng *rand.Rand, attempt int) (context.Context, context.CancelFunc) {
	if s.Whole {
		return context.WithCancel(ctx)
	}
	soon := time.Duration(1 + rng.Int64N(int64(20*time.Microsecond)<<min(attempt, 12)))
	switch kind := rng.IntN(5); {
	case kind == 0 && attempt < 8:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	case kind == 1:
		ctx, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(soon, cancel)
		return ctx, func() { timer.Stop(); cancel() }
	case kind == 2:
		return context.WithTimeout(ctx, soon)
	}
	return context.WithCancel(ctx)
}

// resume makes a call again and again, with contexts that are cut short, until it ends
// otherwise than by one.
func (s *scene) resume(ctx context.Context, rng *rand.Rand, call func(ctx context.Context) error) error {
	for attempt := 0; ; attempt++ {
		short, cancel := s.cut(ctx, rng, attempt)
		err := call(short)
		again := gaveUp(ctx, short, err)
		early := timeLimit(err) && short.Err() == nil
		cancel()
		if early {
			return fmt.Errorf("a call returned %q before its context had ended", err)
		}
		if !again {
			return err
		}
	}
}

// resumed is resume of a call that returns something.
func resumed[T any](ctx context.Context, s *scene, rng *rand.Rand, call func(ctx context.Context) (T, error)) (result T, err error) {
	err = s.resume(ctx, rng, func(ctx context.Context) (err error) {
		result, err = call(ctx)
		return err
	})
	return result, err
}

// barrier is Barrier of the scene's group, cut short now and then.
func (s *scene) barrier(ctx context.Context, rng *rand.Rand) error {
	return s.resume(ctx, rng, func(ctx context.Context) error { return s.p.Barrier(ctx, s.g) })
}

// create makes a segment over the scene's group: the runtime's memory, or bound memory.
func (s *scene) create(ctx context.Context, rng *rand.Rand, id gaspi.SegmentID, size uint64, notifications uint32, bound bool) (*gaspi.Segment, error) {
	var memory []byte
	if bound {
		memory = make([]byte, size)
	}
	return resumed(ctx, s, rng, func(ctx context.Context) (*gaspi.Segment, error) {
		over, count := gaspi.Over(s.g), gaspi.WithNotifications(notifications)
		if bound {
			return s.p.UseSegment(ctx, id, memory, over, count)
		}
		return s.p.CreateSegment(ctx, id, size, over, count)
	})
}

// post posts to a queue, and waits on it whenever it is full.
func (s *scene) post(ctx context.Context, rng *rand.Rand, q *gaspi.Queue, call func() error) error {
	for {
		err := call()
		if !errors.Is(err, gaspi.ErrQueueFull) {
			return err
		}
		if err := s.await(ctx, rng, q); err != nil {
			return err
		}
	}
}

// await is Queue.Wait, cut short now and then.
func (s *scene) await(ctx context.Context, rng *rand.Rand, q *gaspi.Queue) error {
	return s.resume(ctx, rng, q.Wait)
}

// total adds up numbers of all members, modulo 2^64.
func (s *scene) total(ctx context.Context, rng *rand.Rand, numbers []uint64) error {
	for len(numbers) > 0 {
		part := numbers[:min(len(numbers), s.p.Config().AllReduceElements)]
		err := s.resume(ctx, rng, func(ctx context.Context) error {
			return gaspi.AllReduce(ctx, s.g, part, part, gaspi.Sum)
		})
		if err != nil {
			return err
		}
		numbers = numbers[len(part):]
	}
	return nil
}

package transporttest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// The contract of an Atomic whose context ends: a test for each sentence of Link.Atomic.

// isTimeLimit reports whether err is the end of a context.
func isTimeLimit(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// hurried is a context that ends at once, or after some microseconds.
func hurried(random *rand.Rand) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(random.IntN(int(200*time.Microsecond))))
}

// outcome returns the old value of an atomic and whether it was applied, and waits for the
// answer if that is in doubt. It fails the test for every error but those in must.
func (j *fixture) outcome(old uint64, err error, must ...error) (uint64, bool) {
	j.Helper()
	if doubt, is := errors.AsType[*base.InDoubtError](err); is {
		if old, err = doubt.Wait(j.Context()); isTimeLimit(err) {
			j.Errorf("in doubt for ever: %v", err)
		}
	}
	for _, may := range must {
		if errors.Is(err, may) {
			return 0, false
		}
	}
	if err != nil && !isTimeLimit(err) {
		j.Errorf("%v, want no error, or the end of the context", err)
	}
	return old, err == nil
}

// "With a context that has ended before the call, the operation is carried out if the
// peer is reached already."
func endedContextIsCarriedOut(j *fixture) {
	j.start(2)
	s := j.open(1, 1, 64)
	l, at := j.link(0, 1), transport.Addr{Segment: 1, Offset: 8}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := l.Atomic(j.Context(), at, transport.FetchAdd, 1, 0)
	j.ok(err)
	for i := range uint64(100) {
		if old, err := l.Atomic(over, at, transport.FetchAdd, 1, 0); err != nil || old != i+1 {
			j.Fatalf("call %d: %d, %v; want %d", i, old, err, i+1)
		}
	}
	word, err := s.Word(8)
	j.ok(err)
	if got := word.Load(); got != 101 {
		j.Errorf("the word holds %d, want 101", got)
	}
}

// "After an error of ctx it was not applied and never will be": what the callers were
// told adds up to the word, from the first use of the peer on.
func errorMeansNotApplied(j *fixture) {
	const n, callers = 3, 4
	each := often(300)
	j.start(n)
	s := j.open(n-1, 1, 64)
	seed := rand.Uint64()
	var applied atomic.Uint64
	var wg sync.WaitGroup
	for r := range base.Rank(n) {
		l := j.link(r, n-1)
		for c := range uint64(callers) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(r)*callers+c))
				for range each {
					v := random.Uint64N(1 << 20)
					ctx, cancel := hurried(random)
					old, err := l.Atomic(ctx, transport.Addr{Segment: 1, Offset: 8}, transport.FetchAdd, v, 0)
					cancel()
					if _, was := j.outcome(old, err); was {
						applied.Add(v)
					}
				}
			})
		}
	}
	wg.Wait()
	word, err := s.Word(8)
	j.ok(err)
	if got, want := word.Load(), applied.Load(); got != want {
		j.Errorf("seed %d: the word holds %d, but what callers were told adds up to %d", seed, got, want)
	}
}

// "Every call is an operation of its own": a call never returns what an earlier one was
// answered, which would be older than what the caller has seen since.
func noAnswerOfAnother(j *fixture) {
	const rounds = 60
	j.start(2)
	own := j.open(0, 1, 64)
	j.open(1, 1, 64)
	there, back := j.link(0, 1), j.link(1, 0)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	q, at := newQueue(), transport.Addr{Segment: 1}
	for round := range uint64(rounds) {
		for range 3 { // those that end early leave answers behind
			ctx, cancel := hurried(random)
			old, err := there.Atomic(ctx, at, transport.FetchAdd, 0, 0)
			cancel()
			if old, was := j.outcome(old, err); was && old != round {
				j.Fatalf("seed %d, round %d: %d", seed, round, old)
			}
		}
		_, err := j.link(1, 1).Atomic(j.Context(), at, transport.FetchAdd, 1, 0)
		j.ok(err)
		j.ok(back.Notify(q, transport.Flag{Segment: 1, ID: 1, Value: 1}))
		j.await(own, 1)
	}
}

// "It is applied at most once, and never by another call", to the segment that is there:
// the owner withdraws it and exposes another again and again.
func atomicsAndGenerations(j *fixture) {
	const n, callers = 3, 2
	rounds := uint64(often(40))
	j.start(n)
	var now atomic.Uint64 // the generation that is there for certain, or was
	var over atomic.Bool
	var mu sync.Mutex
	applied := make(map[uint64]uint64) // by generation
	seed := rand.Uint64()
	var wg sync.WaitGroup
	for r := range base.Rank(n) {
		l := j.link(r, n-1)
		for c := range uint64(callers) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(r)*callers+c))
				for !over.Load() {
					seen := now.Load()
					ctx, cancel := hurried(random)
					old, err := l.Atomic(ctx, transport.Addr{Segment: 5, Offset: 8}, transport.FetchAdd, 1, 0)
					cancel()
					old, was := j.outcome(old, err, base.ErrNoSegment)
					if !was {
						continue
					}
					if old>>32 < seen {
						j.Errorf("seed %d: a call of generation %d was applied to %d", seed, seen, old>>32)
					}
					mu.Lock()
					applied[old>>32]++
					mu.Unlock()
				}
			})
		}
	}
	words := make(map[uint64]*atomic.Uint64)
	enough := func(generation uint64) bool {
		mu.Lock()
		defer mu.Unlock()
		return applied[generation] >= 3
	}
	for generation := uint64(1); generation <= rounds && !j.Failed(); generation++ {
		s := j.memory(64)
		word, err := s.Word(8)
		j.ok(err)
		word.Store(generation << 32)
		words[generation] = word
		j.ok(j.ranks[n-1].Expose(5, s))
		for r := range base.Rank(n) {
			j.ok(j.ranks[n-1].Grant(5, r))
		}
		now.Store(generation)
		for !enough(generation) && j.Context().Err() == nil && !j.Failed() {
			time.Sleep(50 * time.Microsecond) // sleep: nothing tells, and the callers may need the core
		}
		j.ok(j.ranks[n-1].Withdraw(5))
	}
	over.Store(true)
	wg.Wait()
	for generation, word := range words {
		if got, want := word.Load()-generation<<32, applied[generation]; got != want {
			j.Errorf("seed %d: segment %d was added to %d times, and its callers were told %d", seed, generation, got, want)
		}
	}
}

// RunUnanswered is the part of the suite about a peer that does not answer. stop makes
// rank 1 like one whose process is stopped, until the function that it returns is called.
func RunUnanswered(t *testing.T, factory Factory, newSegment NewSegment, stop func(ranks []transport.Transport) (resume func())) {
	j := &fixture{T: t, factory: factory, newSegment: newSegment}
	j.start(2)
	s := j.open(1, 1, 64)
	l, at := j.link(0, 1), transport.Addr{Segment: 1, Offset: 8}
	if old, err := l.Atomic(j.Context(), at, transport.FetchAdd, 1, 0); err != nil || old != 0 {
		j.Fatalf("before: %d, %v", old, err)
	}
	resume := stop(j.ranks)
	ctx, cancel := context.WithTimeout(j.Context(), time.Millisecond)
	defer cancel()
	const calls, unclaimed = 1200, 600 // more than any transport asks at a time
	var mu sync.Mutex
	var doubts []*base.InDoubtError
	var wg sync.WaitGroup
	for range calls { // all the same operation: a repetition goes on with none
		wg.Go(func() {
			_, err := l.Atomic(ctx, at, transport.FetchAdd, 1, 0)
			if !errors.Is(err, context.DeadlineExceeded) {
				j.Errorf("%v, want the deadline", err)
			}
			if doubt, is := errors.AsType[*base.InDoubtError](err); is {
				mu.Lock()
				doubts = append(doubts, doubt)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(doubts) == 0 {
		resume()
		j.Fatal("none is in doubt, but the peer cannot have answered")
	}
	if _, err := doubts[0].Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		j.Errorf("Wait while it does not answer: %v, want the deadline", err)
	}
	resume()
	j.claim(doubts[max(0, len(doubts)-unclaimed):], uint64(len(doubts)))
	for i := range uint64(2 * calls) { // those that nobody claims leave nothing behind
		if old, err := l.Atomic(j.Context(), at, transport.FetchAdd, 1, 0); err != nil || old != 1+uint64(len(doubts))+i {
			j.Fatalf("after: %d, %v; want %d", old, err, 1+uint64(len(doubts))+i)
		}
	}
	word, err := s.Word(8)
	j.ok(err)
	if got, want := word.Load(), 1+uint64(len(doubts))+2*calls; got != want {
		j.Errorf("the word holds %d, want %d", got, want)
	}
}

// claim waits for the outcome of some of n increments that are in doubt, twice: each has
// one of its own, and keeps it.
func (j *fixture) claim(doubts []*base.InDoubtError, n uint64) {
	j.Helper()
	seen := make(map[uint64]bool)
	for _, doubt := range doubts {
		old, err := doubt.Wait(j.Context())
		if err != nil || old < 1 || old > n || seen[old] {
			j.Fatalf("the outcome is %d, %v; want one from 1 to %d that no other has", old, err, n)
		}
		seen[old] = true
		if again, err := doubt.Wait(j.Context()); err != nil || again != old {
			j.Errorf("the outcome is %d and then %d, %v", old, again, err)
		}
	}
	j.Logf("%d in doubt, %d claimed", n, len(doubts))
}

// Goal: a notification that is posted later than it was asked for comes to the segment that had the id then, or to none.
// Method: one for each segment that has an id by and by, posted while it is there, and behind its withdrawal, when there is
// none and when the next one is there; where links can post late.
func lateNotify(j *fixture) {
	j.start(2)
	l, q := j.link(0, 1), newQueue()
	late, is := l.(transport.LateLink)
	if !is {
		return // their memory is addressed, or they post all flags at once
	}
	flag := transport.Flag{Segment: 5, ID: 3, Value: 7}
	var before []uint64
	for round := range 5 {
		s := j.open(1, 5, 64)
		generation, err := late.Generation(q, 5)
		j.ok(err)
		for _, old := range before {
			if err := j.ended(l, q, late.NotifyLate(q, flag, old)); !errors.Is(err, base.ErrNoSegment) {
				j.Errorf("round %d: for an earlier segment: %v, want ErrNoSegment", round, err)
			}
		}
		if v := s.Notifications().Load(flag.ID); v != 0 {
			j.Errorf("round %d: the segment has a notification for another: %d", round, v)
		}
		j.ok(j.ended(l, q, late.NotifyLate(q, flag, generation)))
		if v := j.await(s, flag.ID); v != 7 {
			j.Errorf("round %d: notification %d, want 7", round, v)
		}
		j.ok(j.ranks[1].Withdraw(5))
		if err := j.ended(l, q, late.NotifyLate(q, flag, generation)); !errors.Is(err, base.ErrNoSegment) {
			j.Errorf("round %d: for one that is gone: %v, want ErrNoSegment", round, err)
		}
		j.ok(s.Close())
		before = append(before, generation)
	}
}

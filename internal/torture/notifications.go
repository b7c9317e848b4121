package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// bulletin is the array of a member in a round, and what was taken off it. Each writer has
// two notifications on each array: one that it adds to, and one that it sets, to 1, 2, 3
// and so on, the next when the last was taken, of which it hears by a notification back.
//
//	| additions of each writer | sequence of each writer | how far each of mine was taken |
type bulletin struct {
	*scene
	seg   *gaspi.Segment
	shift gaspi.NotificationID
	steps int      // of each pair
	want  []uint64 // what each writer adds in all

	mu    sync.Mutex
	added []uint64      // guarded by mu; by writer
	last  []gaspi.Value // guarded by mu; of each sequence
}

func notifications(ctx context.Context, s *scene) error {
	n, rng := len(s.members), s.own()
	b := &bulletin{
		scene: s, shift: gaspi.NotificationID(s.plan.IntN(150)), steps: 1 + s.plan.IntN(40),
		want: make([]uint64, n), added: make([]uint64, n), last: make([]gaspi.Value, n),
	}
	for w := range b.want {
		for _, v := range b.additions(w, s.me) {
			b.want[w] += uint64(v)
		}
	}
	count := uint32(b.shift) + uint32(3*n+s.plan.IntN(70))
	var err error
	if b.seg, err = s.create(ctx, rng, s.base, 8, count, s.plan.IntN(4) == 0); err != nil {
		return err
	}
	var tasks []func(ctx context.Context) error
	for peer := range n {
		tasks = append(tasks, func(ctx context.Context) error { return b.addTo(ctx, peer) })
		tasks = append(tasks, func(ctx context.Context) error { return b.countFor(ctx, peer) })
	}
	for i := range 1 + rng.IntN(4) {
		tasks = append(tasks, func(ctx context.Context) error { return b.takeAll(ctx, s.own(9, uint64(i))) })
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := s.await(ctx, rng, s.p.MustQueue(1)); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	if id, is, err := b.seg.TrySome(0, uint32(b.shift)+uint32(2*n)); is || err != nil {
		return fmt.Errorf("at the end notification %d is set (%v); all were taken", id, err)
	}
	return b.seg.Delete()
}

// additions are what a writer adds to a member's array, known to both.
func (b *bulletin) additions(from, to int) []gaspi.Value {
	rng := stream(b.key, keyPair, uint64(from), uint64(to))
	all := make([]gaspi.Value, b.steps)
	for i := range all {
		all[i] = gaspi.Value(1 + rng.IntN(1000))
	}
	return all
}

// notify posts to a member's array.
func (b *bulletin) notify(ctx context.Context, rng *rand.Rand, to int, n gaspi.Notification) error {
	b.did(1)
	n.ID += b.shift
	return b.post(ctx, rng, b.p.MustQueue(1), func() error { return b.p.MustQueue(1).Notify(b.seg.At(b.members[to], 0), n) })
}

// addTo adds to a peer's array.
func (b *bulletin) addTo(ctx context.Context, to int) error {
	rng := b.own(1, uint64(to))
	for _, v := range b.additions(b.me, to) {
		if err := b.notify(ctx, rng, to, gaspi.Notification{ID: gaspi.NotificationID(b.me), Value: v, Add: true}); err != nil {
			return err
		}
	}
	return nil
}

// countFor counts on a peer's array, as fast as that takes.
func (b *bulletin) countFor(ctx context.Context, to int) error {
	rng, n := b.own(2, uint64(to)), gaspi.NotificationID(len(b.members))
	for i := range b.steps {
		value := gaspi.Value(i + 1)
		if err := b.notify(ctx, rng, to, gaspi.Notification{ID: n + gaspi.NotificationID(b.me), Value: value}); err != nil {
			return err
		}
		err := b.resume(ctx, rng, func(ctx context.Context) error {
			return b.seg.WaitUntil(ctx, b.shift+2*n+gaspi.NotificationID(to), pick(rng, gaspi.AtLeast, gaspi.Equal, gaspi.Reached), value)
		})
		if err != nil {
			return fmt.Errorf("waiting until member %d has taken %d: %w", to, value, err)
		}
	}
	return nil
}

// complete reports whether everything that will be posted has been taken.
func (b *bulletin) complete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.members {
		if b.added[w] < b.want[w] || b.last[w] < gaspi.Value(b.steps) {
			return false
		}
	}
	return true
}

// takeAll is one of several goroutines that take what comes, each in random ways.
func (b *bulletin) takeAll(ctx context.Context, rng *rand.Rand) error {
	n := len(b.members)
	for attempt := 0; !b.complete(); attempt++ {
		first := b.shift + gaspi.NotificationID(rng.IntN(2*n))
		count := 1 + rng.Uint32N(uint32(b.shift)+uint32(2*n)-uint32(first))
		if rng.IntN(2) == 0 {
			first, count = b.shift, uint32(2*n)
		}
		short, cancel := b.cut(ctx, rng, 6)
		// A value may go to another goroutine, so that nobody waits without a limit.
		short, stop := context.WithTimeout(short, b.patience(rng))
		ids, err := b.look(short, rng, first, count)
		stop()
		cancel()
		if err != nil && (!timeLimit(err) || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			continue
		}
		for _, id := range ids {
			if id < first || uint64(id) >= uint64(first)+uint64(count) {
				return fmt.Errorf("a wait for [%d:+%d] returned notification %d", first, count, id)
			}
			if err := b.take(ctx, rng, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// patience is how long a goroutine waits that may wait in vain.
func (b *bulletin) patience(rng *rand.Rand) time.Duration {
	return time.Duration(1+rng.IntN(20)) * time.Millisecond
}

// look waits, or looks, for notifications of a range and returns those that may be set.
func (b *bulletin) look(ctx context.Context, rng *rand.Rand, first gaspi.NotificationID, count uint32) ([]gaspi.NotificationID, error) {
	whole := make([]gaspi.NotificationID, count)
	for i := range whole {
		whole[i] = first + gaspi.NotificationID(i)
	}
	some := func() (found []gaspi.NotificationID) {
		return slices.DeleteFunc(slices.Clone(whole), func(id gaspi.NotificationID) bool { return b.seg.Peek(id) == 0 })
	}
	is := func() bool { return len(some()) > 0 }
	var id gaspi.NotificationID
	var err error
	switch rng.IntN(9) {
	case 0:
		id, err = b.seg.WaitSome(ctx, first, count)
		return []gaspi.NotificationID{id}, err
	case 1:
		var set bool
		if id, set, err = b.seg.TrySome(first, count); set {
			return []gaspi.NotificationID{id}, err
		}
		return nil, err
	case 2:
		return whole[:1], b.seg.WaitAll(ctx, first, 1)
	case 3:
		_, err = b.seg.TryAll(first, count)
		return whole, err
	case 4:
		return whole[:1], b.seg.WaitUntil(ctx, first, gaspi.NotEqual, 0)
	case 5:
		_, err = b.seg.TryUntil(first, gaspi.Greater, 0)
		return whole[:1], err
	case 6:
		err = b.seg.WaitFunc(ctx, is)
	case 7:
		err = b.seg.WaitFunc(ctx, is, gaspi.ThroughLosses)
	default:
		err = b.seg.WaitFunc(ctx, is, gaspi.ThroughLosses|gaspi.Asleep)
	}
	return some(), err
}

// take takes a notification off the array and compares it with what its writer can have
// posted.
func (b *bulletin) take(ctx context.Context, rng *rand.Rand, id gaspi.NotificationID) error {
	v, err := b.seg.Reset(id)
	if err != nil || v == 0 {
		return err
	}
	n := len(b.members)
	w := int(id - b.shift)
	if w < n {
		return b.takeSum(w, v)
	}
	w -= n
	b.mu.Lock()
	last := b.last[w]
	b.last[w] = v
	b.mu.Unlock()
	if b.mutant("handed out twice") && v == 2 {
		last = v
	}
	if v != last+1 || v > gaspi.Value(b.steps) {
		return fmt.Errorf("notification %d was handed out with value %d; the last was %d", id, v, last)
	}
	return b.notify(ctx, rng, w, gaspi.Notification{ID: gaspi.NotificationID(2*n + b.me), Value: v})
}

// takeSum counts additions of a writer.
func (b *bulletin) takeSum(w int, v gaspi.Value) error {
	if b.mutant("added twice") {
		v++
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.added[w] += uint64(v); b.added[w] > b.want[w] {
		return fmt.Errorf("of member %d, which adds %d in all, %d were taken", w, b.want[w], b.added[w])
	}
	return nil
}

package torture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// target is the segment that its owner deletes and makes again, and control is the one by
// which the owner and its writers agree:
//
//	writer's array  0: generation g is open (2g+1), or closed (2g+2)
//	owner's array   1+w: writer w has stopped in generation g (g+1)
//	owner's data    8w: how many additions writer w did in that generation
//
// A generation is closed quietly, when the writers have stopped and flushed, or under fire:
// then the owner deletes first, tells the writers, and makes the next when all have said
// that they have stopped, which they do without waiting for what they have posted.
type target struct {
	*scene
	control *gaspi.Segment
	id      gaspi.SegmentID
	owner   int
	rounds  int
	quiet   []bool // by generation
	bound   []bool
}

// writerSpace is what each writer has of the target, behind the counter's 64 bytes.
const writerSpace = 512

func recreate(ctx context.Context, s *scene) error {
	r := &target{scene: s, id: s.base + 1, owner: s.plan.IntN(len(s.members)), rounds: 2 + s.plan.IntN(8)}
	for range r.rounds {
		r.quiet = append(r.quiet, s.plan.IntN(2) == 0)
		r.bound = append(r.bound, s.plan.IntN(3) == 0)
	}
	rng := s.own()
	var err error
	if r.control, err = s.create(ctx, rng, s.base, 8*uint64(len(s.members)), 64, false); err != nil {
		return err
	}
	if s.me == r.owner {
		err = r.own(ctx, rng)
	} else {
		err = r.fire(ctx, rng)
	}
	if err == nil {
		err = s.barrier(ctx, rng)
	}
	if err != nil {
		return err
	}
	return r.control.Delete()
}

// tell posts a word of the owner to all writers.
func (r *target) tell(ctx context.Context, rng *rand.Rand, word gaspi.Value) error {
	q := r.p.MustQueue(0)
	for w, rank := range r.members {
		if w == r.owner {
			continue
		}
		err := r.post(ctx, rng, q, func() error {
			return q.Notify(r.control.At(rank, 0), gaspi.Notification{ID: 0, Value: word})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// own plays the owner.
func (r *target) own(ctx context.Context, rng *rand.Rand) error {
	for g := range r.rounds {
		seg, err := r.open(g)
		if err != nil {
			return fmt.Errorf("generation %d: %w", g, err)
		}
		if err := r.tell(ctx, rng, gaspi.Value(2*g+1)); err != nil {
			return err
		}
		// It lasts until a writer has done something, so that there is a fire.
		err = r.resume(ctx, rng, func(ctx context.Context) error {
			return seg.WaitFunc(ctx, func() bool { return len(r.members) == 1 || r.seen(seg, g) }, gaspi.ThroughLosses)
		})
		if err != nil {
			return err
		}
		if !r.quiet[g] {
			if err := seg.Delete(); err != nil {
				return err
			}
		}
		if err := r.stop(ctx, rng, g); err != nil {
			return err
		}
		if r.quiet[g] {
			if err := r.inspect(seg, g); err != nil {
				return fmt.Errorf("generation %d, %v by generation before it: %w", g, r.quiet[:g], err)
			}
			if err := seg.Delete(); err != nil {
				return err
			}
		}
		r.did(1)
	}
	return r.tell(ctx, rng, gaspi.Value(2*r.rounds+1))
}

// open makes the target of a generation.
func (r *target) open(g int) (*gaspi.Segment, error) {
	size := uint64(64 + writerSpace*len(r.members))
	var seg *gaspi.Segment
	var err error
	if r.bound[g] {
		seg, err = r.p.BindSegment(r.id, make([]byte, size), gaspi.WithNotifications(64))
	} else {
		seg, err = r.p.AllocSegment(r.id, size, gaspi.WithNotifications(64))
	}
	if err != nil {
		return nil, err
	}
	for _, rank := range r.members {
		if err := seg.Register(rank); err != nil {
			return nil, err
		}
	}
	return seg, nil
}

// seen reports whether some writer has notified in generation g.
func (r *target) seen(seg *gaspi.Segment, g int) bool {
	for w := range r.members {
		if seg.Peek(gaspi.NotificationID(w)) == gaspi.Value(g+1) {
			return true
		}
	}
	return false
}

// stop closes a generation and waits until all writers have heard of it.
func (r *target) stop(ctx context.Context, rng *rand.Rand, g int) error {
	if err := r.tell(ctx, rng, gaspi.Value(2*g+2)); err != nil {
		return err
	}
	for w := range r.members {
		if w == r.owner {
			continue
		}
		err := r.resume(ctx, rng, func(ctx context.Context) error {
			return r.control.WaitUntil(ctx, gaspi.NotificationID(1+w), gaspi.Equal, gaspi.Value(g+1))
		})
		if err != nil {
			return fmt.Errorf("generation %d, waiting until writer %d has stopped: %w", g, w, err)
		}
	}
	return nil
}

// inspect checks the target of a generation whose writers have stopped and flushed: what
// is there is of this generation, and all additions that were reported are in the sum.
func (r *target) inspect(seg *gaspi.Segment, g int) error {
	var want uint64
	for w := range r.members {
		want += binary.LittleEndian.Uint64(r.control.Bytes()[8*w:])
		if v := seg.Peek(gaspi.NotificationID(w)); v != 0 && v != gaspi.Value(g+1) {
			return fmt.Errorf("notification %d is %d, which is of generation %d", w, v, v-1)
		}
	}
	for at := 64; at < len(seg.Bytes()); at += 8 {
		v := binary.LittleEndian.Uint64(seg.Bytes()[at:])
		if v != 0 && v != uint64(g+1) {
			return fmt.Errorf("the word at %d is of generation %d", at, int64(v)-1)
		}
	}
	if got := binary.LittleEndian.Uint64(seg.Bytes()); got != want {
		return fmt.Errorf("writers had %d additions that returned no error; the sum is %d", want, got)
	}
	return nil
}

// fire plays a writer.
func (r *target) fire(ctx context.Context, rng *rand.Rand) error {
	shots, err := r.p.CreateQueue()
	if err != nil {
		return err
	}
	source, err := r.p.AllocSegment(r.base+2, uint64(writerSpace*r.rounds))
	if err != nil {
		return err
	}
	for at := 0; at < writerSpace*r.rounds; at += 8 {
		binary.LittleEndian.PutUint64(source.Bytes()[at:], uint64(at/writerSpace+1))
	}
	w := &writer{target: r, rng: rng, shots: shots, source: source}
	for g := range r.rounds {
		if err := w.generation(ctx, g); err != nil {
			return fmt.Errorf("writer in generation %d, quiet %v: %w", g, r.quiet[g], err)
		}
	}
	if err := w.until(ctx, gaspi.Value(2*r.rounds+1)); err != nil {
		return err
	}
	if err := w.settle(ctx, true); err != nil {
		return err
	}
	if _, err := r.control.Reset(0); err != nil {
		return err
	}
	if err := source.Delete(); err != nil {
		return err
	}
	return shots.Delete()
}

// writer is one that fires at the target.
type writer struct {
	*target
	rng    *rand.Rand
	shots  *gaspi.Queue
	source *gaspi.Segment // writerSpace for each generation, full of words that say which
}

// until waits for a word of the owner.
func (w *writer) until(ctx context.Context, word gaspi.Value) error {
	return w.resume(ctx, w.rng, func(ctx context.Context) error {
		return w.control.WaitUntil(ctx, 0, gaspi.AtLeast, word)
	})
}

// settle waits for all shots. After fire they may have failed because the target was gone.
func (w *writer) settle(ctx context.Context, afterFire bool) error {
	err := w.await(ctx, w.rng, w.shots)
	if afterFire && errors.Is(err, gaspi.ErrNoSegment) {
		return nil
	}
	return err
}

// generation fires until the owner says that the generation is closed.
func (w *writer) generation(ctx context.Context, g int) error {
	if err := w.until(ctx, gaspi.Value(2*g+1)); err != nil {
		return err
	}
	// The operations left of a generation that was closed under fire end now at the latest.
	if err := w.settle(ctx, g > 0 && !w.quiet[g-1]); err != nil {
		return err
	}
	var done uint64
	for {
		closed, err := w.control.TryUntil(0, gaspi.AtLeast, gaspi.Value(2*g+2))
		if err != nil {
			return err
		}
		if closed {
			break
		}
		added, err := w.shoot(ctx, g)
		if err != nil && (w.quiet[g] || !errors.Is(err, gaspi.ErrNoSegment)) {
			return err
		}
		done += added
		w.did(1)
	}
	return w.leave(ctx, g, done)
}

// shoot does one random thing to the target and returns how many additions it did.
func (w *writer) shoot(ctx context.Context, g int) (uint64, error) {
	owner := w.members[w.owner]
	at := gaspi.Remote{Rank: owner, Segment: w.id}
	words := w.rng.IntN(writerSpace/8 + 1)
	first := w.rng.IntN(writerSpace/8 - words + 1)
	src, err := w.source.Span(uint64(g*writerSpace), uint64(8*words))
	if err != nil {
		return 0, err
	}
	dst := at.Plus(uint64(64 + w.me*writerSpace + 8*first))
	note := gaspi.Notification{ID: gaspi.NotificationID(w.me), Value: gaspi.Value(g + 1)}
	if w.mutant("straggler") && g > 0 {
		note.Value-- // as if it had been sent in the generation before
	}
	switch w.rng.IntN(4) {
	case 0:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.Write(dst, src) })
	case 1:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.WriteNotify(dst, src, note) })
	case 2:
		return 0, w.post(ctx, w.rng, w.shots, func() error { return w.shots.Notify(at, note) })
	}
	short, cancel := w.cut(ctx, w.rng, 3)
	defer cancel()
	_, err = outcome(ctx)(w.p.FetchAdd(short, at, 1))
	if gaveUp(ctx, short, err) {
		return 0, nil // not applied
	}
	if err != nil || w.mutant("addition lost") {
		return 0, err
	}
	return 1, nil
}

// leave tells the owner that this writer has stopped, and how often it has added.
func (w *writer) leave(ctx context.Context, g int, done uint64) error {
	owner := w.members[w.owner]
	if w.quiet[g] {
		if err := w.settle(ctx, false); err != nil {
			return err
		}
		flush := func(ctx context.Context) error { return w.shots.Flush(ctx, owner) }
		if err := w.resume(ctx, w.rng, flush); err != nil {
			return err
		}
	}
	report := w.control.Bytes()[8*w.me:]
	binary.LittleEndian.PutUint64(report, done)
	src, err := w.control.Span(uint64(8*w.me), 8)
	if err != nil {
		return err
	}
	q, note := w.p.MustQueue(0), gaspi.Notification{ID: gaspi.NotificationID(1 + w.me), Value: gaspi.Value(g + 1)}
	err = w.post(ctx, w.rng, q, func() error { return q.WriteNotify(w.control.At(owner, src.Offset()), src, note) })
	if err != nil {
		return err
	}
	return w.await(ctx, w.rng, q)
}

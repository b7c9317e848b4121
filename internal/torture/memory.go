package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// memoryBudget bounds the segments of a rank in a round of memory.
const memoryBudget = 32 << 20

// How a step moves its parts, and tells of them.
const (
	writeNotify      = iota // one part
	writeThenNotify         // Notify behind writes of the same queue
	listThenNotify          // the same with a list
	writeListNotify         // the notification in a segment of its own
	writeNotifyIn           // one part, likewise
	writeFlushNotify        // Notify of another queue behind Flush
	writeThroughMap         // stores to the peer's memory where that can be addressed
	countedWrites           // WriteNotify of each part, which add up
	notifyAlone             // no data
	readWait                // Read and Wait
	readListWait            // ReadList and Wait
	readNotify              // one part
	readListNotify          // all parts
	stepKinds
	firstRead = readWait
)

// A transferStep is one transfer of a pair of ranks, which both know beforehand.
type transferStep struct {
	kind    int
	data    int // index of the segment that holds the data
	board   int // index of the segment that holds the notification
	parts   []areaRange
	queue   int
	another int // another queue
}

// An areaRange is a range of a pair's area. Parts of a step do not overlap.
type areaRange struct {
	offset, size int
	key          uint64 // of its content
}

// arena is the memory of a round. Each segment holds, for n members and areas of one size:
//
//	| what each member wrote | constant | what is written to each | what is read from each |
type arena struct {
	*scene
	segments []*gaspi.Segment
	queues   []*gaspi.Queue
	area     int
	shift    gaspi.NotificationID // of the first notification that is used
	steps    int
}

func memory(ctx context.Context, s *scene) error {
	a := &arena{scene: s, shift: gaspi.NotificationID(s.plan.IntN(100)), steps: 1 + s.plan.IntN(12)}
	n, rng := len(s.members), s.own()
	count := 1 + s.plan.IntN(3)
	a.area = min(pick(s.plan, 100, 5000, 70_001, 1<<20, 4<<20), memoryBudget/count/(3*n+1))
	for i := range count {
		size := uint64((3*n+1)*a.area + s.plan.IntN(3)*s.me)
		seg, err := s.create(ctx, rng, s.base+gaspi.SegmentID(i), size, 300, s.plan.IntN(3) == 0)
		if err != nil {
			return err
		}
		fill(seg.Bytes()[n*a.area:(n+1)*a.area], s.constant(i, s.me))
		a.segments = append(a.segments, seg)
	}
	if err := a.makeQueues(rng); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil { // constants are there
		return err
	}
	var tasks []func(ctx context.Context) error
	for peer := range n {
		tasks = append(tasks,
			func(ctx context.Context) error { return a.send(ctx, peer) },
			func(ctx context.Context) error { return a.receive(ctx, peer) })
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	return a.close(ctx, rng)
}

// constant is the key of what a member serves to readers.
func (s *scene) constant(segment, member int) uint64 {
	return mix(s.key, keyData, uint64(segment), uint64(member))
}

// makeQueues takes all queues there are, and up to two of its own.
func (a *arena) makeQueues(rng *rand.Rand) error {
	for number := range a.p.Config().Queues {
		a.queues = append(a.queues, a.p.MustQueue(number))
	}
	for range rng.IntN(3) {
		q, err := a.p.CreateQueue()
		if err != nil {
			return err
		}
		a.queues = append(a.queues, q)
	}
	return nil
}

// close gives everything back once all members have finished.
func (a *arena) close(ctx context.Context, rng *rand.Rand) error {
	for _, q := range a.queues {
		if err := a.await(ctx, rng, q); err != nil {
			return err
		}
	}
	if err := a.barrier(ctx, rng); err != nil {
		return err
	}
	for _, q := range a.queues[a.p.Config().Queues:] {
		if err := q.Delete(); err != nil {
			return err
		}
	}
	for i, seg := range a.segments {
		for id := range gaspi.NotificationID(seg.Notifications()) {
			if v := seg.Peek(id); v != 0 {
				return fmt.Errorf("at the end notification %d of segment %d is %d; all were taken", id, i, v)
			}
		}
		if err := seg.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// plans returns the steps of the pair of two members.
func (a *arena) plans(from, to int) []transferStep {
	rng := stream(a.key, keyPair, uint64(from), uint64(to))
	steps := make([]transferStep, rng.IntN(a.steps+1))
	for i := range steps {
		st := transferStep{
			kind: rng.IntN(stepKinds), data: rng.IntN(len(a.segments)), board: rng.IntN(len(a.segments)),
			queue: rng.IntN(1 << 10), another: rng.IntN(1 << 10),
		}
		parts := 1 + rng.IntN(6)
		switch st.kind {
		case writeNotify, writeNotifyIn, readNotify:
			parts = 1
		case notifyAlone:
			parts = 0
		}
		if st.kind == writeNotify || st.kind == countedWrites || st.kind == readNotify || st.kind == readListNotify {
			st.board = st.data
		}
		st.parts = ranges(rng, a.area, parts)
		steps[i] = st
	}
	return steps
}

// ranges cuts random ranges that do not overlap out of an area, some of them empty.
func ranges(rng *rand.Rand, area, parts int) []areaRange {
	cuts := make([]int, 2*parts)
	for i := range cuts {
		cuts[i] = rng.IntN(area + 1)
		if rng.IntN(3) == 0 {
			cuts[i] = rng.IntN(min(area, 200) + 1) // short ranges
		}
	}
	slices.Sort(cuts)
	all := make([]areaRange, parts)
	for i := range all {
		all[i] = areaRange{cuts[2*i], cuts[2*i+1] - cuts[2*i], rng.Uint64()}
		if rng.IntN(12) == 0 {
			all[i].size = 0
		}
	}
	slices.SortFunc(all, func(a, b areaRange) int { return cmp.Compare(a.key, b.key) })
	return all
}

// span is a range of a local segment.
func (a *arena) span(segment, offset, size int) gaspi.Span {
	x, err := a.segments[segment].Span(uint64(offset), uint64(size))
	if err != nil {
		panic(err) // the arena has drawn it inside
	}
	return x
}

// signal and credit are the notifications from a peer: that it has sent, and that it has
// received.
func (a *arena) signal(peer int) gaspi.NotificationID { return a.shift + gaspi.NotificationID(peer) }
func (a *arena) credit(peer int) gaspi.NotificationID {
	return a.shift + gaspi.NotificationID(len(a.members)+peer)
}

// send plays the sender of a pair.
func (a *arena) send(ctx context.Context, to int) error {
	rng := a.own(keyPair, uint64(to))
	for i, st := range a.plans(a.me, to) {
		m := mover{arena: a, rng: rng, to: to, step: st, value: gaspi.Value(i + 1), q: a.queues[st.queue%len(a.queues)]}
		if err := m.move(ctx); err != nil {
			return fmt.Errorf("step %d (%+v) to member %d: %w", i, st, to, err)
		}
		a.did(1 + len(st.parts))
		if st.kind >= firstRead {
			continue
		}
		if err := a.take(ctx, rng, st.board, a.credit(to), m.value); err != nil {
			return fmt.Errorf("step %d (%+v) to member %d, waiting for its word: %w", i, st, to, err)
		}
	}
	return nil
}

// receive plays the receiver of a pair: when told of a step it compares all of the pair's
// area, in each segment, with what should be there by then.
func (a *arena) receive(ctx context.Context, from int) error {
	rng := a.own(keyPair, uint64(from), 1)
	model := make([][]byte, len(a.segments))
	for i := range model {
		model[i] = make([]byte, a.area)
	}
	for i, st := range a.plans(from, a.me) {
		if st.kind >= firstRead {
			continue
		}
		value := gaspi.Value(i + 1)
		if st.kind == countedWrites {
			value = gaspi.Value(len(st.parts))
		}
		if err := a.take(ctx, rng, st.board, a.signal(from), value); err != nil {
			return fmt.Errorf("step %d (%+v) of member %d: %w", i, st, from, err)
		}
		for _, p := range st.parts {
			fill(model[st.data][p.offset:p.offset+p.size], p.key)
		}
		for k, seg := range a.segments {
			got := seg.Bytes()[from*a.area : (from+1)*a.area]
			if at := differ(got, model[k]); at >= 0 {
				return fmt.Errorf("step %d (%+v) of member %d was told of, but byte %d of its area in segment %d is %#x, want %#x",
					i, st, from, at, k, got[at], model[k][at])
			}
		}
		q, back := a.queues[rng.IntN(len(a.queues))], a.segments[st.board].At(a.members[from], 0)
		err := a.post(ctx, rng, q, func() error {
			return q.Notify(back, gaspi.Notification{ID: a.credit(a.me), Value: gaspi.Value(i + 1)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// take waits for a notification in one of the ways there are, and takes it off.
func (a *arena) take(ctx context.Context, rng *rand.Rand, board int, id gaspi.NotificationID, want gaspi.Value) error {
	seg := a.segments[board]
	err := a.resume(ctx, rng, func(ctx context.Context) error {
		switch rng.IntN(5) {
		case 0:
			got, err := seg.WaitSome(ctx, id, 1)
			if err == nil && got != id {
				return fmt.Errorf("WaitSome returned notification %d, outside [%d:+1]", got, id)
			}
			if err != nil {
				return err
			}
		case 1:
			return seg.WaitFunc(ctx, func() bool { return seg.Peek(id) >= want })
		case 2:
			return seg.WaitFunc(ctx, func() bool { return seg.Peek(id) >= want }, gaspi.ThroughLosses|gaspi.Asleep)
		case 3:
			return seg.WaitUntil(ctx, id, gaspi.Reached, want)
		}
		return seg.WaitUntil(ctx, id, gaspi.AtLeast, want)
	})
	if err != nil {
		return err
	}
	got, err := seg.Reset(id)
	if err != nil || got != want {
		return fmt.Errorf("notification %d is %d (%v), want %d", id, got, err, want)
	}
	return nil
}

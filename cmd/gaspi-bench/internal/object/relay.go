package object

import (
	"context"
	"errors"
	"sync"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A relay is the limit of operations with objects: bytes on their way through ranks, in
// small pieces, by bare writes of the runtime. A rank passes a piece on when it is there.
type relay struct {
	b     *bench
	size  uint64
	piece uint64
	hops  []hop
}

// A hop is what one rank does for one path.
type hop struct {
	source bool                 // the bytes are there from the start
	note   gaspi.NotificationID // else how many pieces have come
	off    uint64               // where they are at this rank

	ends   bool // here
	next   gaspi.Rank
	toNote gaspi.NotificationID
	toOff  uint64
}

// Pieces are small enough that passing them on costs little beside the whole, and great
// enough that the messages do.
const (
	leastPiece = 4 << 10
	mostPiece  = 64 << 10
	pieces     = 256
)

// directoryBytes is the length of the messages that stand beside those to a directory.
const directoryBytes = 8

// relayWay is the limit of the operation that is measured, for objects of that size.
func (b *bench) relayWay(size uint64) (objectWay, error) {
	kind := b.Kind
	if kind.directory() { // whose messages are short
		kind, size = RoundTrip, min(size, directoryBytes)
	}
	r := &relay{b: b, size: size, piece: min(max(limit.RoundUp(size/pieces, limit.CacheLine), leastPiece), mostPiece)}
	if kind == RoundTrip { // what comes back is another object, which begins when this one has come
		r.piece = size
	}
	at := pathsOf{ranks: b.P.Size(), size: size, inbox: b.Inbox(), outbox: b.Outbox(), arrive: b.Options.Arrive}
	r.hops = at.paths(kind, int(b.P.Rank()))
	out, err := b.Seg.Span(b.Outbox(), size)
	if err != nil {
		return objectWay{}, err
	}
	number := uint32(0)
	return objectWay{
		impl: report.ImplLimit, timed: kind.timed(int(b.P.Rank())),
		fill:   func(n int) { number = uint32(n); limit.Stamp(out.Bytes(), number) },
		before: r.before, once: r.once, check: func() error { return r.check(number) },
		after: func(context.Context) error { return nil },
	}, nil
}

// pathsOf is what paths depend on beside the operation.
type pathsOf struct {
	ranks               int
	size, inbox, outbox uint64
	arrive              bool // then only the way to the last rank counts
}

// paths returns the hops of a rank. A rank sends from its outbox and receives into its inbox;
// bytes of the second path go behind those of the first.
func (r *pathsOf) paths(kind Pattern, me int) []hop {
	n, inbox, outbox, arrive := r.ranks, r.inbox, r.outbox, r.arrive
	second := inbox + limit.RoundUp(r.size, limit.Page)
	line := func(order []int, at uint64, note gaspi.NotificationID, source bool, from uint64) []hop {
		for i, rank := range order {
			if rank != me {
				continue
			}
			h := hop{source: i == 0 && source, off: at, note: note, ends: i == len(order)-1, toOff: at, toNote: note}
			if i == 0 {
				h.off, h.note = from, note-1
			}
			if !h.ends {
				h.next = gaspi.Rank(order[i+1])
			}
			return []hop{h}
		}
		return nil
	}
	up, down := make([]int, n), make([]int, n)
	for i := range n {
		up[i], down[n-1-i] = i, i
	}
	switch {
	case kind == RoundTrip:
		return append(line([]int{0, 1}, inbox, limit.NoteRelay, true, outbox), line([]int{1, 0}, inbox, limit.NoteRelay+1, false, inbox)...)
	case kind == Broadcast && arrive:
		return line([]int{0, n - 1}, inbox, limit.NoteRelay, true, outbox)
	case kind == Broadcast:
		return line(up, inbox, limit.NoteRelay, true, outbox)
	case kind == Reduce && arrive:
		return line([]int{n - 1, 0}, inbox, limit.NoteRelay, true, outbox)
	case kind == Reduce:
		return line(down, inbox, limit.NoteRelay, true, outbox)
	case kind == AllReduce:
		return append(line(down, inbox, limit.NoteRelay, true, outbox), line(up, second, limit.NoteRelay+1, false, inbox)...)
	}
	var all []hop
	for from := 1; from < n; from++ {
		at := inbox + uint64(from)*limit.RoundUp(r.size, limit.Page)
		all = append(all, line([]int{from, 0}, at, limit.NoteRelay+gaspi.NotificationID(from), true, outbox)...)
	}
	return all
}

func (r *relay) before(context.Context) error {
	for i := range r.hops {
		if h := &r.hops[i]; !h.source {
			if _, err := r.b.Seg.Reset(h.note); err != nil {
				return err
			}
		}
	}
	return nil
}

// once passes on all that comes.
func (r *relay) once(ctx context.Context) error {
	if len(r.hops) == 1 {
		return r.pass(ctx, &r.hops[0], r.b.P.MustQueue(0))
	}
	errs := make([]error, len(r.hops))
	var all sync.WaitGroup
	for i := range r.hops {
		all.Go(func() { errs[i] = r.pass(ctx, &r.hops[i], r.b.P.MustQueue(i%relayQueues)) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// relayQueues is how many paths of a rank do not wait for each other's writes.
const relayQueues = 2

func (r *relay) pass(ctx context.Context, h *hop, q *gaspi.Queue) error {
	step := r.piece
	count := gaspi.Value(0)
	for at := uint64(0); at < r.size; at += step {
		count++
		if !h.source {
			if err := r.b.Seg.WaitUntil(ctx, h.note, gaspi.AtLeast, count); err != nil {
				return err
			}
		}
		if h.ends {
			continue
		}
		if err := r.send(ctx, h, q, at, min(step, r.size-at), count); err != nil {
			return err
		}
	}
	return q.Wait(ctx)
}

// send writes a piece, and then how many have been: that comes after all of them.
func (r *relay) send(ctx context.Context, h *hop, q *gaspi.Queue, at, n uint64, count gaspi.Value) error {
	src, err := r.b.Seg.Span(h.off+at, n)
	if err != nil {
		return err
	}
	to := r.b.Seg.At(h.next, h.toOff+at)
	if err := withRoom(ctx, q, func() error { return q.Write(to, src) }); err != nil {
		return err
	}
	return withRoom(ctx, q, func() error { return q.Notify(to, gaspi.Notification{ID: h.toNote, Value: count}) })
}

// withRoom posts something, and makes room in the queue first if there is none.
func withRoom(ctx context.Context, q *gaspi.Queue, post func() error) error {
	err := post()
	if errors.Is(err, gaspi.ErrQueueFull) {
		if err = q.Wait(ctx); err == nil {
			err = post()
		}
	}
	return err
}

// check looks at the ends of what has come.
func (r *relay) check(number uint32) error {
	for i := range r.hops {
		h := &r.hops[i]
		if h.source {
			continue
		}
		span, err := r.b.Seg.Span(h.off, r.size)
		if err == nil {
			err = limit.Verify(span.Bytes(), number)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package transporttest

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

func putAndGetAnywhere(j *fixture) {
	const size = 70_000
	j.start(2)
	own, peer := j.open(0, 1, size), j.open(1, 1, size)
	q := newQueue()
	for _, to := range []base.Rank{0, 1} {
		l, there := j.link(0, to), peer
		if to == 0 {
			there = j.open(0, 2, size) // another segment of the own rank
		}
		id := segment.ID(1)
		if to == 0 {
			id = 2
		}
		for _, n := range []uint64{1, 2, 7, 8, 9, 63, 64, 65, 4095, 4096, 4097, 65536} {
			for _, offset := range []uint64{0, 1, 3, 8, 4095, size - n} {
				if offset+n > size {
					continue
				}
				what := fmt.Sprintf("%d bytes to %d of rank %d", n, offset, to)
				src := j.span(own, size-n, n)
				pattern(src.Bytes(), int(n))
				j.ok(l.Put(q, transport.Addr{Segment: id, Offset: offset}, src))
				j.arrived(l, q)
				j.holds(what, there, offset, src.Bytes())
				back := j.span(own, 0, n)
				if n*2 <= size { // where source and destination do not overlap
					j.ok(l.GetNotify(q, back, transport.Addr{Segment: id, Offset: offset}, own.Notifications(), transport.Flag{ID: 1, Value: 1}))
					j.await(own, 1)
					if string(back.Bytes()) != string(src.Bytes()) {
						j.Fatalf("%s: read back other bytes", what)
					}
				}
				clear(own.All().Bytes())
				clear(there.All().Bytes())
			}
		}
	}
}

func emptyTransfers(j *fixture) {
	j.start(2)
	own, peer := j.open(0, 1, 64), j.open(1, 1, 64)
	l, q := j.link(0, 1), newQueue()
	for _, offset := range []uint64{0, 5, 64} {
		at := transport.Addr{Segment: 1, Offset: offset}
		for _, none := range []segment.Span{{}, j.span(own, 64, 0)} {
			j.ok(l.Put(q, at, none))
			j.ok(l.Get(q, none, at))
			j.ok(l.PutNotify(q, at, none, transport.Flag{Segment: 1, ID: 2, Value: 5}))
			if v := j.await(peer, 2); v != 5 {
				j.Errorf("notification of an empty put at %d: %d, want 5", offset, v)
			}
			j.ok(l.GetNotify(q, none, at, own.Notifications(), transport.Flag{ID: 3, Value: 6}))
			if v := j.await(own, 3); v != 6 {
				j.Errorf("notification of an empty get at %d: %d, want 6", offset, v)
			}
		}
	}
	j.holds("after empty puts", peer, 0, nil)
}

// addresses has every operation of size 0 and 1 at places in, at and behind the end of
// segments that are there, were withdrawn, or never were: what an operation does not
// move does not make its address a right one.
func addresses(j *fixture) {
	const size, gone, unknown = 64, segment.ID(2), segment.ID(3)
	j.start(2)
	own := j.open(0, 1, size)
	j.open(1, 1, size)
	for r := range base.Rank(2) {
		j.open(r, gone, size)
		q, l := newQueue(), j.link(0, r)
		j.ok(j.ended(l, q, l.Put(q, transport.Addr{Segment: gone}, j.span(own, 0, 1)))) // so that it is known here
		j.ok(j.ranks[r].Withdraw(gone))
		j.ok(l.Flush(j.Context(), q)) // behind the news of it
		for _, id := range []segment.ID{1, gone, unknown, IDs, math.MaxUint32} {
			for _, offset := range []uint64{0, size - 1, size, size + 1, 1 << 40, math.MaxUint64} {
				for n := range uint64(2) {
					var want error
					switch {
					case id != 1:
						want = base.ErrNoSegment
					case offset > size || n > size-offset:
						want = base.ErrOutOfRange
					}
					j.address(l, own, transport.Addr{Segment: id, Offset: offset}, n, want)
				}
			}
		}
	}
}

// address does every operation of n bytes at a place of a peer.
func (j *fixture) address(l transport.Link, own *segment.Segment, at transport.Addr, n uint64, want error) {
	f := transport.Flag{Segment: 1, ID: 2, Value: 5}
	for name, do := range map[string]func(q *transport.Queue, local segment.Span) error{
		"put":        func(q *transport.Queue, local segment.Span) error { return l.Put(q, at, local) },
		"put_notify": func(q *transport.Queue, local segment.Span) error { return l.PutNotify(q, at, local, f) },
		"get":        func(q *transport.Queue, local segment.Span) error { return l.Get(q, local, at) },
		"get_notify": func(q *transport.Queue, local segment.Span) error {
			return l.GetNotify(q, local, at, own.Notifications(), f)
		},
	} {
		locals := []segment.Span{j.span(own, 0, n)}
		if n == 0 {
			locals = append(locals, segment.Span{}, j.span(own, own.Size(), 0))
		}
		for _, local := range locals {
			q := newQueue()
			if err := j.ended(l, q, do(q, local)); want == nil && err != nil || !errors.Is(err, want) {
				j.Errorf("%s of %d bytes at segment %d offset %d: %v, want %v", name, n, at.Segment, at.Offset, err, want)
			}
		}
	}
}

func bounds(j *fixture) {
	const size, top = 64, math.MaxUint64
	j.start(2)
	own, peer := j.open(0, 1, size), j.open(1, 1, size)
	q, f := newQueue(), transport.Flag{Segment: 1, ID: 2, Value: 1}
	pattern(own.All().Bytes(), 1)
	for _, to := range []base.Rank{0, 1} {
		l := j.link(0, to)
		for _, c := range []struct{ offset, n uint64 }{
			{64, 1}, {60, 8}, {57, 8}, {1, 64}, {65, 1}, {top, 1}, {top - 3, 8}, {top - 7, 8}, {1 << 63, 8}, {top - 63, 64},
		} {
			at, src := transport.Addr{Segment: 1, Offset: c.offset}, j.span(own, 0, c.n)
			for name, err := range map[string]error{
				"put": l.Put(q, at, src), "put_notify": l.PutNotify(q, at, src, f), "get": l.Get(q, src, at),
				"get_notify": l.GetNotify(q, src, at, own.Notifications(), f),
			} {
				if !errors.Is(err, base.ErrOutOfRange) {
					j.Errorf("%s [%d:+%d] at rank %d: %v, want ErrOutOfRange", name, c.offset, c.n, to, err)
				}
			}
		}
	}
	want := make([]byte, size)
	pattern(want, 1)
	j.holds("source", own, 0, want)
	j.holds("peer", peer, 0, nil)
	if own.Notifications().Load(2) != 0 || peer.Notifications().Load(2) != 0 {
		j.Error("an operation that was refused has notified")
	}
}

func refusedFlags(j *fixture) {
	j.start(2)
	own, peer := j.open(0, 1, 64), j.open(1, 1, 64)
	pattern(own.All().Bytes(), 1)
	l, q := j.link(0, 1), newQueue()
	for _, c := range []struct {
		name string
		flag transport.Flag
		want error
	}{
		{"value 0", transport.Flag{Segment: 1, ID: 1}, base.ErrZeroValue},
		{"adding 0", transport.Flag{Segment: 1, ID: 1, Add: true}, base.ErrZeroValue},
		{"id behind the end", transport.Flag{Segment: 1, ID: 16, Value: 1}, base.ErrNoNotification},
		{"largest id", transport.Flag{Segment: 1, ID: math.MaxUint32, Value: 1}, base.ErrNoNotification},
		{"no such segment", transport.Flag{Segment: 2, ID: 1, Value: 1}, base.ErrNoSegment},
		{"segment id behind the end", transport.Flag{Segment: IDs, ID: 1, Value: 1}, base.ErrNoSegment},
		{"largest segment id", transport.Flag{Segment: math.MaxUint32, ID: 1, Value: 1}, base.ErrNoSegment},
	} {
		if err := l.Notify(q, c.flag); !errors.Is(err, c.want) {
			j.Errorf("notify, %s: %v, want %v", c.name, err, c.want)
		}
		if err := l.PutNotify(q, transport.Addr{Segment: 1}, own.All(), c.flag); !errors.Is(err, c.want) {
			j.Errorf("put_notify, %s: %v, want %v", c.name, err, c.want)
		}
	}
	j.holds("peer", peer, 0, nil) // the data of a refused put_notify neither
	if _, set, _ := peer.Notifications().Try(notify.Some(0, 16)); set {
		j.Error("a flag that was refused is set")
	}
}

func flags(j *fixture) {
	j.start(2)
	own, peer := j.open(0, 1, 64), j.open(1, 1, 64)
	l, q := j.link(0, 1), newQueue()
	for v := range notify.Value(3) {
		j.ok(l.Notify(q, transport.Flag{Segment: 1, ID: 0, Value: v + 7}))
		j.ok(l.Notify(q, transport.Flag{Segment: 1, ID: 15, Value: v + 7, Add: true}))
		j.ok(l.PutNotify(q, transport.Addr{Segment: 1}, j.span(own, 0, 8), transport.Flag{Segment: 1, ID: 1, Value: v + 1, Add: true}))
	}
	j.arrived(l, q)
	for id, want := range map[notify.ID]notify.Value{0: 9, 1: 6, 15: 24} {
		if v := j.await(peer, id); v != want {
			j.Errorf("notification %d: %d, want %d", id, v, want)
		}
	}
}

func flagElsewhere(j *fixture) {
	j.start(2)
	own, data, board := j.open(0, 1, 64), j.open(1, 1, 64), j.open(1, 2, 8)
	pattern(own.All().Bytes(), 1)
	l, q := j.link(0, 1), newQueue()
	j.ok(l.PutNotify(q, transport.Addr{Segment: 1}, own.All(), transport.Flag{Segment: 2, ID: 4, Value: 3}))
	if v := j.await(board, 4); v != 3 || data.Notifications().Load(4) != 0 {
		j.Errorf("notification %d in the segment meant, %d in the other", v, data.Notifications().Load(4))
	}
	j.holds("data", data, 0, own.All().Bytes())
}

func getNotify(j *fixture) {
	j.start(2)
	own, peer := j.open(0, 1, 64), j.open(1, 1, 64)
	pattern(peer.All().Bytes(), 5)
	l, q := j.link(0, 1), newQueue()
	for i := range uint64(7) {
		j.ok(l.Get(q, j.span(own, 8*i, 8), transport.Addr{Segment: 1, Offset: 8 * i}))
	}
	j.ok(l.GetNotify(q, j.span(own, 56, 8), transport.Addr{Segment: 1, Offset: 56}, own.Notifications(), transport.Flag{ID: 9, Value: 2}))
	if v := j.await(own, 9); v != 2 {
		j.Errorf("value %d, want 2", v)
	}
	j.holds("what was read", own, 0, peer.All().Bytes()) // the earlier gets too
}

// stream has rank 0 send rounds of 16 words to rank 1 by send, which ends with
// flag 0, whose value is the round; rank 1 checks the words and answers. There are
// fewer rounds where they take longer than streamMost: an emulated network or
// processor needs milliseconds for one.
func (j *fixture) stream(send func(l transport.Link, q *transport.Queue, own *segment.Segment, f transport.Flag)) {
	const streamMost = 2 * time.Second
	var last atomic.Uint64 // round
	last.Store(uint64(often(2000)))
	j.start(2)
	own, peer := j.open(0, 1, 256), j.open(1, 1, 256)
	words, err := segment.View[uint64](own, 0, 16)
	j.ok(err)
	got, err := segment.View[uint64](peer, 128, 16)
	j.ok(err)
	there, back := j.link(0, 1), j.link(1, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		q := newQueue()
		for round := uint64(1); round <= last.Load(); round++ {
			if v := j.await(peer, 0); v != notify.Value(round) {
				j.Errorf("round %d: value %d", round, v)
			}
			for i, w := range got {
				if w != round<<8+uint64(i) {
					j.Errorf("round %d: word %d is %#x", round, i, w)
				}
			}
			if err := back.Notify(q, transport.Flag{Segment: 1, ID: 1, Value: 1}); err != nil {
				j.Error(err)
			}
		}
	}()
	q, begin := newQueue(), time.Now()
	for round := uint64(1); round <= last.Load(); round++ {
		if time.Since(begin) > streamMost {
			last.Store(round) // rank 1 waits for it
		}
		for i := range words {
			words[i] = round<<8 + uint64(i)
		}
		send(there, q, own, transport.Flag{Segment: 1, ID: 0, Value: notify.Value(round)})
		j.await(own, 1)
	}
	<-done
}

func flagShowsItsPut(j *fixture) {
	j.stream(func(l transport.Link, q *transport.Queue, own *segment.Segment, f transport.Flag) {
		j.ok(l.PutNotify(q, transport.Addr{Segment: 1, Offset: 128}, j.span(own, 0, 128), f))
	})
}

func notifyIsAFence(j *fixture) {
	j.stream(func(l transport.Link, q *transport.Queue, own *segment.Segment, f transport.Flag) {
		for i := range uint64(16) {
			j.ok(l.Put(q, transport.Addr{Segment: 1, Offset: 128 + 8*i}, j.span(own, 8*i, 8)))
		}
		j.ok(l.Notify(q, f))
	})
}

func flushMeansArrival(j *fixture) {
	other := newQueue() // so that nothing but the flush orders the flag
	j.stream(func(l transport.Link, q *transport.Queue, own *segment.Segment, f transport.Flag) {
		j.ok(l.Put(q, transport.Addr{Segment: 1, Offset: 128}, j.span(own, 0, 128)))
		j.arrived(l, q)
		j.ok(l.Notify(other, f))
	})
}

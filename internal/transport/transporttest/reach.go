package transporttest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

func atomics(j *fixture) {
	j.start(2)
	j.open(0, 1, 64)
	j.open(1, 1, 64)
	for _, to := range []base.Rank{0, 1} {
		l, at := j.link(0, to), transport.Addr{Segment: 1, Offset: 56}
		word := uint64(0)
		for _, c := range []struct {
			op               transport.AtomicOp
			operand, compare uint64
			next             uint64
		}{
			{transport.FetchAdd, 40, 0, 40},
			{transport.FetchAdd, math.MaxUint64, 0, 39},
			{transport.CompareSwap, 5, 40, 39},
			{transport.CompareSwap, 5, 39, 5},
			{transport.Swap, 12, 0, 12},
			{transport.FetchAnd, 10, 0, 8},
			{transport.FetchOr, 3, 0, 11},
			{transport.FetchXor, 10, 0, 1},
			{transport.FetchMax, 7, 0, 7},
			{transport.FetchMin, math.MaxUint64, 0, 7},
			{transport.FetchMin, 2, 0, 2},
		} {
			old, err := l.Atomic(j.Context(), at, c.op, c.operand, c.compare)
			if err != nil || old != word {
				j.Fatalf("%v at rank %d: %d, %v; want %d", c.op, to, old, err, word)
			}
			word = c.next
		}
		if old, _ := l.Atomic(j.Context(), at, transport.FetchAdd, 0, 0); old != word {
			j.Errorf("rank %d holds %d, want %d", to, old, word)
		}
	}
}

func refusedAtomics(j *fixture) {
	j.start(2)
	j.open(0, 1, 60)
	peer := j.open(1, 1, 60)
	for _, to := range []base.Rank{0, 1} {
		for _, c := range []struct {
			at   transport.Addr
			want error
		}{
			{transport.Addr{Segment: 1, Offset: 4}, base.ErrUnaligned},
			{transport.Addr{Segment: 1, Offset: 1}, base.ErrUnaligned},
			{transport.Addr{Segment: 1, Offset: 56}, base.ErrOutOfRange},
			{transport.Addr{Segment: 1, Offset: math.MaxUint64 - 7}, base.ErrOutOfRange},
			{transport.Addr{Segment: 2}, base.ErrNoSegment},
			{transport.Addr{Segment: IDs}, base.ErrNoSegment},
		} {
			if _, err := j.link(0, to).Atomic(j.Context(), c.at, transport.Swap, 1, 0); !errors.Is(err, c.want) {
				j.Errorf("segment %d offset %d of rank %d: %v, want %v", c.at.Segment, c.at.Offset, to, err, c.want)
			}
		}
	}
	j.holds("peer", peer, 0, nil)
}

// All ranks add to a word of the last one, which adds too, and take turns with a
// lock made of a compare-and-swap.
func contendedAtomics(j *fixture) {
	const n = 3
	each := often(1000)
	j.start(n)
	s := j.open(n-1, 1, 64)
	inside, turns := 0, 0
	var wg sync.WaitGroup
	for r := range base.Rank(n) {
		l := j.link(r, n-1)
		do := func(offset uint64, op transport.AtomicOp, operand, compare uint64) uint64 {
			old, err := l.Atomic(context.Background(), transport.Addr{Segment: 1, Offset: offset}, op, operand, compare)
			if err != nil {
				j.Error(err)
			}
			return old
		}
		wg.Go(func() {
			for range each {
				do(0, transport.FetchAdd, 3, 0)
				for do(8, transport.CompareSwap, uint64(r)+1, 0) != 0 {
					runtime.Gosched()
				}
				if inside++; inside != 1 {
					j.Errorf("%d ranks hold the lock", inside)
				}
				turns++
				inside--
				do(8, transport.Swap, 0, 0)
			}
		})
	}
	wg.Wait()
	word, err := s.Word(0)
	j.ok(err)
	if got := word.Load(); got != uint64(3*n*each) || turns != n*each {
		j.Errorf("sum %d after %d turns, want %d after %d", got, turns, 3*n*each, n*each)
	}
}

func exposure(j *fixture) {
	j.start(1)
	t := j.ranks[0]
	j.ok(t.Expose(3, j.memory(8)))
	if err := t.Expose(3, j.memory(8)); err == nil {
		j.Error("two segments under one id")
	}
	for name, err := range map[string]error{
		"grant": t.Grant(4, 0), "withdraw": t.Withdraw(4),
	} {
		if !errors.Is(err, base.ErrNoSegment) {
			j.Errorf("%s of what is not exposed: %v, want ErrNoSegment", name, err)
		}
	}
	j.ok(t.Withdraw(3))
	if err := t.Withdraw(3); !errors.Is(err, base.ErrNoSegment) {
		j.Errorf("withdraw again: %v, want ErrNoSegment", err)
	}
	j.ok(t.Expose(3, j.memory(16)))
}

func grants(j *fixture) {
	const n = 3
	j.start(n)
	j.ok(j.ranks[0].Expose(1, j.memory(8)))
	q := newQueue()
	reach := func() (in [n]bool) {
		for r := range base.Rank(n) {
			// A rank may take a while to hear of a withdrawal, no longer than a flush.
			j.ok(j.link(r, 0).Flush(j.Context(), q))
			_, _, err := j.link(r, 0).Size(1)
			if err != nil && !errors.Is(err, base.ErrNoSegment) {
				j.Errorf("rank %d: %v, want ErrNoSegment", r, err)
			}
			in[r] = err == nil
		}
		return in
	}
	for _, step := range []struct {
		grant base.Rank
		want  [n]bool
	}{{-1, [n]bool{}}, {2, [n]bool{2: true}}, {0, [n]bool{0: true, 2: true}}, {2, [n]bool{0: true, 2: true}}} {
		if step.grant >= 0 {
			j.ok(j.ranks[0].Grant(1, step.grant))
		}
		if got := reach(); got != step.want {
			j.Errorf("after grant %d these reach it: %v, want %v", step.grant, got, step.want)
		}
	}
	j.ok(j.ranks[0].Withdraw(1))
	j.ok(j.ranks[0].Expose(1, j.memory(8)))
	if got := reach(); got != [n]bool{} {
		j.Errorf("grants of a segment that was withdrawn count for the next: %v", got)
	}
}

func generations(j *fixture) {
	j.start(2)
	own := j.open(0, 1, 64)
	pattern(own.All().Bytes(), 3)
	l, q := j.link(0, 1), newQueue()
	for round := range uint64(20) {
		s := j.open(1, 5, 64+round)
		j.ok(l.PutNotify(q, transport.Addr{Segment: 5}, own.All(), transport.Flag{Segment: 5, ID: 1, Value: 1}))
		j.await(s, 1)
		j.holds(fmt.Sprintf("round %d", round), s, 0, own.All().Bytes())
		if bytes, _, err := l.Size(5); err != nil || bytes != 64+round {
			j.Fatalf("round %d: size %d, %v", round, bytes, err)
		}
		j.ok(j.ranks[1].Withdraw(5))
		_, addErr := l.Atomic(j.Context(), transport.Addr{Segment: 5}, transport.FetchAdd, 1, 0)
		for name, err := range map[string]error{
			"put": j.ended(l, q, l.Put(q, transport.Addr{Segment: 5}, own.All())), "get": j.ended(l, q, l.Get(q, own.All(), transport.Addr{Segment: 5})),
			"notify": j.ended(l, q, l.Notify(q, transport.Flag{Segment: 5, ID: 1, Value: 1})), "atomic": addErr,
		} {
			if !errors.Is(err, base.ErrNoSegment) {
				j.Fatalf("round %d: %s after withdraw: %v, want ErrNoSegment", round, name, err)
			}
		}
		j.ok(s.Close())
	}
}

// Ranks put into segment 5 of rank 0, which withdraws it and exposes another under the id. Then they
// put into that, though nothing that came from rank 0 has told them of it.
func replaced(j *fixture) {
	const n = 3
	j.start(n)
	var own [n]*segment.Segment
	for r := range base.Rank(n) {
		own[r] = j.open(r, 1, 64)
	}
	for round := range often(200) {
		s := j.open(0, 5, 64)
		for r := base.Rank(1); r < n; r++ {
			q := newQueue()
			flag := transport.Flag{Segment: 5, ID: notify.ID(r), Value: 1}
			err := j.link(r, 0).PutNotify(q, transport.Addr{Segment: 5}, own[r].All(), flag)
			if err = j.ended(j.link(r, 0), q, err); err != nil {
				j.Fatalf("round %d: rank %d puts into the segment that is there now: %v", round, r, err)
			}
			j.await(s, flag.ID)
		}
		j.ok(j.ranks[0].Withdraw(5))
		j.ok(s.Close())
	}
}

// Rank 0 puts into segment 5 of rank 1 without pause, while rank 1 withdraws it
// and exposes another under the id, for itself alone.
func latePut(j *fixture) {
	j.start(2)
	own := j.open(0, 1, 64)
	pattern(own.All().Bytes(), 3)
	l := j.link(0, 1)
	var refused atomic.Int64
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		q, issued := newQueue(), 0
		for !over.Load() {
			err := l.PutNotify(q, transport.Addr{Segment: 5}, own.All(), transport.Flag{Segment: 5, ID: 1, Value: 1})
			if issued++; issued%16 == 0 && err == nil {
				err = j.ended(l, q, nil) // as queues of some depth do: else what is under way only grows
			}
			switch {
			case errors.Is(err, base.ErrNoSegment):
				refused.Add(1)
				runtime.Gosched()
			case err != nil:
				j.Error(err)
				return
			}
		}
	}()
	for range often(50) {
		old := j.memory(64)
		j.ok(j.ranks[1].Expose(5, old))
		j.ok(j.ranks[1].Grant(5, 0))
		j.await(old, 1)
		j.ok(j.ranks[1].Withdraw(5))
		fresh := j.memory(64)
		j.ok(j.ranks[1].Expose(5, fresh))
		j.ok(j.ranks[1].Grant(5, 1))
		for before := refused.Load(); refused.Load() < before+3; {
			runtime.Gosched()
		}
		j.holds("the new segment", fresh, 0, nil)
		if v := fresh.Notifications().Load(1); v != 0 {
			j.Fatalf("notification %d in the new segment", v)
		}
		j.ok(j.ranks[1].Withdraw(5))
		j.ok(old.Close())
		j.ok(fresh.Close())
	}
	over.Store(true)
	<-done
}

func sizeAndMapped(j *fixture) {
	j.start(2)
	j.open(0, 1, 8)
	s := j.open(1, 1, 100)
	s.All().Bytes()[50] = 7
	l := j.link(0, 1)
	if bytes, notes, err := l.Size(1); err != nil || bytes != 100 || notes != 16 {
		j.Errorf("%d bytes, %d notifications, %v; want 100, 16", bytes, notes, err)
	}
	if _, _, err := l.Size(2); !errors.Is(err, base.ErrNoSegment) {
		j.Errorf("size of none: %v, want ErrNoSegment", err)
	}
	// A transport need not map anything, but what it maps must be it.
	if x, mapped := l.Mapped(transport.Addr{Segment: 1, Offset: 48}, 8); mapped && (x.Len() != 8 || x.Bytes()[2] != 7) {
		j.Errorf("mapped %v: %v", x, x.Bytes())
	}
	for _, c := range []struct {
		at transport.Addr
		n  uint64
	}{
		{transport.Addr{Segment: 1, Offset: 96}, 5}, {transport.Addr{Segment: 1, Offset: math.MaxUint64}, 2}, {transport.Addr{Segment: 2}, 1},
	} {
		if _, mapped := l.Mapped(c.at, c.n); mapped {
			j.Errorf("mapped %d bytes at %v, which are not there", c.n, c.at)
		}
	}
}

// isGone fails the test unless every operation on l ends with err.
func (j *fixture) isGone(l transport.Link, own *segment.Segment, want *base.RankError) {
	j.Helper()
	q, at, src := newQueue(), transport.Addr{Segment: 1}, own.All()
	f := transport.Flag{Segment: 1, ID: 1, Value: 1}
	_, addErr := l.Atomic(j.Context(), at, transport.FetchAdd, 1, 0)
	_, _, sizeErr := l.Size(1)
	for name, err := range map[string]error{
		"put": l.Put(q, at, src), "put_notify": l.PutNotify(q, at, src, f), "notify": l.Notify(q, f),
		"get": l.Get(q, src, at), "get_notify": l.GetNotify(q, src, at, own.Notifications(), f), "atomic": addErr,
		"size": sizeErr, "flush": l.Flush(j.Context(), q), "ping": l.Ping(j.Context()),
	} {
		var dead *base.RankError
		if !errors.As(err, &dead) || *dead != *want || !errors.Is(err, base.ErrRankDead) {
			j.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, mapped := l.Mapped(at, 8); mapped {
		j.Error("memory of a rank that is lost is still offered")
	}
}

func lose(j *fixture) {
	j.start(3)
	own := j.open(0, 1, 64)
	peer, other := j.open(1, 1, 64), j.open(2, 1, 64)
	pattern(own.All().Bytes(), 1)
	q := newQueue()
	for _, to := range []base.Rank{1, 2} { // both links are in use
		j.ok(j.link(0, to).Put(q, transport.Addr{Segment: 1}, j.span(own, 0, 8)))
		j.arrived(j.link(0, to), q)
	}
	first := &base.RankError{Rank: 1, Reason: "killed by signal 9"}
	j.ranks[0].Lose(first)
	j.ranks[0].Lose(&base.RankError{Rank: 1, Reason: "said again"})
	j.isGone(j.link(0, 1), own, first)
	j.holds("the lost rank", peer, 0, own.All().Bytes()[:8])
	j.ok(j.link(0, 2).Put(q, transport.Addr{Segment: 1}, own.All()))
	j.arrived(j.link(0, 2), q)
	j.holds("another rank", other, 0, own.All().Bytes())
	j.ok(j.link(2, 1).Ping(j.Context())) // rank 2 has lost nobody
}

func loseFirst(j *fixture) {
	j.start(2)
	own := j.open(0, 1, 64)
	j.open(1, 1, 64)
	gone := &base.RankError{Rank: 1, Reason: "exit status 3"}
	j.ranks[0].Lose(gone)
	j.isGone(j.link(0, 1), own, gone)
}

// leave has a rank close its transport while it exposes a segment that its peer uses, and one that
// the peer has not used: the peer's operations say that the rank has left, not that a segment is missing.
func leave(j *fixture) {
	j.start(2)
	own := j.open(0, 1, 64)
	j.open(1, 1, 64)
	j.open(1, 2, 64)
	l, q := j.link(0, 1), newQueue()
	j.ok(l.Put(q, transport.Addr{Segment: 1}, own.All()))
	j.arrived(l, q)
	j.ok(j.ranks[1].Close())
	f := transport.Flag{Segment: 1, ID: 1, Value: 1}
	for name, operate := range map[string]func() error{
		"put":           func() error { return l.Put(q, transport.Addr{Segment: 1}, own.All()) },
		"put elsewhere": func() error { return l.Put(q, transport.Addr{Segment: 2}, own.All()) },
		"put_notify":    func() error { return l.PutNotify(q, transport.Addr{Segment: 1}, own.All(), f) },
		"notify":        func() error { return l.Notify(q, f) },
		"get":           func() error { return l.Get(q, own.All(), transport.Addr{Segment: 1}) },
		"atomic": func() error {
			_, err := l.Atomic(j.Context(), transport.Addr{Segment: 1}, transport.FetchAdd, 1, 0)
			return err
		},
	} {
		var err error
		testenv.Eventually(j, name+" fails", func() bool { // it may be carried out until the news has come
			err = j.ended(l, q, operate())
			return err != nil
		})
		if left, ok := errors.AsType[*base.RankError](err); !ok || left.Rank != 1 || !left.Left {
			j.Errorf("%s: %v, want %v", name, err, transport.ErrorOfLeaver(1))
		}
	}
}

func ping(j *fixture) {
	j.start(2)
	for _, to := range []base.Rank{0, 1} {
		for range 2 {
			if err := j.link(0, to).Ping(j.Context()); err != nil {
				j.Errorf("ping of rank %d: %v", to, err)
			}
		}
	}
}

func links(j *fixture) {
	j.start(2)
	if j.ranks[0].Name() == "" || j.ranks[0].Name() != j.ranks[1].Name() {
		j.Errorf("names %q and %q", j.ranks[0].Name(), j.ranks[1].Name())
	}
	for _, r := range []base.Rank{-1, 2, math.MaxInt32} {
		if _, err := j.ranks[0].Link(r); !errors.Is(err, base.ErrBadRank) {
			j.Errorf("link to rank %d of 2: %v, want ErrBadRank", r, err)
		}
	}
	for r := range base.Rank(2) {
		if j.link(0, r) != j.link(0, r) {
			j.Errorf("two links to rank %d", r)
		}
	}
}

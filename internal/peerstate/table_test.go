package peerstate

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// TestRandomOrders makes events known in random orders, and compares the table with what
// follows from the events themselves after each.
func TestRandomOrders(t *testing.T) {
	const size, steps = 5, 60
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		table, want := New(size), newLedger(size)
		for step := range steps {
			peer, e := base.Rank(r.IntN(size)), events[r.IntN(len(events))].Event
			if e.Err != nil {
				named := *e.Err
				named.Rank = peer + e.Err.Rank - rank
				e.Err = &named
			}
			before, after := table.apply(peer, e)
			want.note(peer, e)
			if after != table.At(peer) || e.Kind != Pardoned && before.Corrupt && !after.Corrupt {
				t.Fatalf("seed %d, step %d: %s became %s", seed, step, text(*before), text(*after))
			}
			if wrong := want.differs(table); wrong != "" {
				t.Fatalf("seed %d, step %d, %s of rank %d: %s", seed, step, e.Kind, peer, wrong)
			}
		}
	}
}

// A ledger is what a table must say, kept in another way: as the events of each rank.
type ledger struct {
	ends   []*base.RankError
	lost   []bool // before the end was told
	parted []bool
	bad    []bool
	order  []base.Rank // of losses
}

func newLedger(size int) *ledger {
	return &ledger{ends: make([]*base.RankError, size), lost: make([]bool, size), parted: make([]bool, size), bad: make([]bool, size)}
}

func (l *ledger) note(r base.Rank, e Event) {
	switch e.Kind {
	case Failed:
		l.bad[r] = true
		l.append(r)
	case Untold:
		l.lost[r] = l.lost[r] || l.ends[r] == nil
	case Unheard:
		l.lost[r] = l.lost[r] || l.ends[r] == nil
		l.parted[r] = l.parted[r] || l.ends[r] == nil
	case Ended:
		if l.ends[r] != nil {
			return
		}
		if !slices.Contains(l.order, r) && !e.Err.Left { // otherwise the program has been told of the loss
			l.bad[r] = true
		}
		if !l.lost[r] {
			l.remove(r)
		}
		l.append(r)
		l.ends[r], l.parted[r] = e.Err, false
	case Pardoned:
		l.bad[r] = false
	}
}

func (l *ledger) append(r base.Rank) {
	if !slices.Contains(l.order, r) {
		l.order = append(l.order, r)
	}
}

func (l *ledger) remove(r base.Rank) {
	for i, have := range l.order {
		if have == r {
			l.order = append(l.order[:i:i], l.order[i+1:]...)
			return
		}
	}
}

// differs says how a table differs from the ledger, or nothing.
func (l *ledger) differs(t *Table) string {
	absent, parted := false, false
	var ranks []base.Rank
	for i := range l.ends {
		r := base.Rank(i)
		ranks = append(ranks, r)
		p := t.At(r)
		switch {
		case p.Corrupt != l.bad[r]:
			return "the entry in the state vector"
		case p.HasEnded() != (l.ends[r] != nil) || p.End != l.ends[r]:
			return "the end"
		case p.State == Left != (l.ends[r] != nil && l.ends[r].Left):
			return "whether it left"
		case p.State == Parted != l.parted[r]:
			return "whether it is parted"
		case p.HasEnded() && t.Why(r) != p.End:
			return "why it is gone"
		}
		absent = absent || l.bad[r] || l.ends[r] != nil
		parted = parted || l.parted[r]
	}
	if t.AllPresent() == absent || t.AnyParted() != parted {
		return "the counts"
	}
	first, any := t.First(ranks, func(p *Entry) bool { return p.Turn > 0 })
	if any != (len(l.order) > 0) || any && first != l.order[0] {
		return "which was lost first"
	}
	return ""
}

// TestConcurrentEvents makes events known by several goroutines: each kind is noted once, and
// the order of losses has no number twice.
func TestConcurrentEvents(t *testing.T) {
	const size, goroutines = 64, 8
	table := New(size)
	var ended, failed [size]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for r := range base.Rank(size) {
				err := &base.RankError{Rank: r, Left: r%2 == 0}
				becomes, first := table.Failed(r, err), table.Ended(err)
				mu.Lock()
				if becomes {
					failed[r]++
				}
				if first {
					ended[r]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	turns := map[int32]bool{}
	for r := range base.Rank(size) {
		turns[table.At(r).Turn] = true
		if ended[r] != 1 || failed[r] != 1 && !(failed[r] == 0 && r%2 == 1) {
			t.Errorf("rank %d: its end was news %d times, and it became corrupt %d times", r, ended[r], failed[r])
		}
	}
	if len(turns) != size || turns[0] {
		t.Errorf("%d numbers in the order of losses for %d ranks", len(turns), size)
	}
}

// TestAcknowledge says that the program knows who has ended before anybody has, afterwards,
// and before another end.
func TestAcknowledge(t *testing.T) {
	table := New(3)
	for i, want := range []bool{false, true, false, true} {
		if i == 1 || i == 2 {
			table.Ended(&base.RankError{Rank: base.Rank(i), Left: true})
		}
		if i != 2 {
			table.Acknowledge()
		}
		if got := table.Acknowledged(); got != want {
			t.Errorf("step %d: %t, want %t", i, got, want)
		}
	}
	table.Ended(&base.RankError{Rank: 1, Left: true})
	if !table.Acknowledged() {
		t.Error("an end that was told twice is news")
	}
}

// TestLooksAllocateNothing looks at a table, which waits do.
func TestLooksAllocateNothing(t *testing.T) {
	table, ranks := New(8), []base.Rank{1, 2, 3}
	table.Ended(&base.RankError{Rank: 2})
	if n := testing.AllocsPerRun(100, func() {
		if _, any := table.First(ranks, (*Entry).HasEnded); !any || table.AllPresent() || table.At(2).HasLeft() {
			t.Error("the end is not seen")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

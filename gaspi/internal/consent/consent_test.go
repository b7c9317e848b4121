package consent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/notify"
)

// A member of an agreement that a test carries out.
type member struct {
	Agreement
	flags  uint32
	dead   bool
	step   Action
	posts  []int // members that are still to be told what the step says; nil before the first step
	ended  bool
	result uint32
}

// A board is what members have told each other: the index is the part, the reader and the writer.
type board [Parts][][]notify.Value

// next has member m do one thing: tell one other, or take what the one that it awaits has told. A
// dead member does nothing. It reports whether anything was done.
func (b *board) next(members []*member, m int) bool {
	x := members[m]
	switch {
	case x.dead || x.ended:
		return false
	case x.posts == nil:
		var more bool
		if x.step, more = x.Next(); !more {
			x.ended, x.result = true, x.Flags()
			return true
		}
		x.posts = []int{}
		for other := range members {
			if x.step.Tell != 0 && other != m {
				x.posts = append(x.posts, other)
			}
		}
		rand.Shuffle(len(x.posts), func(i, j int) { x.posts[i], x.posts[j] = x.posts[j], x.posts[i] })
	case len(x.posts) > 0:
		to := &b[x.step.Part][x.posts[0]][m]
		if *to != 0 {
			panic("a notification is overwritten")
		}
		*to, x.posts = x.step.Tell, x.posts[1:]
	default:
		from := &b[x.step.Part][m][x.step.From]
		if *from == 0 && x.step.From != m && !members[x.step.From].dead {
			return false
		}
		x.Take(*from)
		*from, x.posts = 0, nil
	}
	return true
}

// TestAgreements has members of groups of all small sizes agree, some of which die at any moment:
// those that come to the end have the same flags, which are the conjunction of those of some
// members, among them all that are alive.
func TestAgreements(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for range 400 {
			var b board
			members := make([]*member, n)
			for part := range b {
				for range n {
					b[part] = append(b[part], make([]notify.Value, n))
				}
			}
			alive := uint32(Flagged - 1) // the conjunction of their flags
			for m := range members {
				members[m] = &member{flags: rand.Uint32() | rand.Uint32()&^Flagged}
				members[m].flags &^= Flagged
				members[m].Begin(m, n, members[m].flags)
			}
			deaths := rand.IntN(n) // one member is left at least
			for idle := 0; idle < 100*n; idle++ {
				m := rand.IntN(n)
				if deaths > 0 && rand.IntN(4*n) == 0 && !members[m].dead {
					members[m].dead = true
					deaths--
				}
				if b.next(members, m) {
					idle = 0
				}
			}
			least := alive
			for _, x := range members {
				least &= x.flags
				if !x.dead {
					alive &= x.flags
				}
			}
			var results []uint32
			for m, x := range members {
				if !x.dead && (!x.ended || x.Active()) {
					t.Fatalf("member %d of %d waits for ever: %+v", m, n, x.step)
				}
				if x.ended {
					results = append(results, x.result)
				}
			}
			if len(slices.Compact(results)) > 1 {
				t.Fatalf("members of %d agreed on %x", n, results)
			}
			if r := results[0]; r&alive != r || r&least != least {
				t.Fatalf("agreed on %x, of flags between %x and %x", r, least, alive)
			}
		}
	}
}

// A step that ended early is the same again, and tells nothing twice; the flags of the first call
// count.
func TestNextAgain(t *testing.T) {
	var a Agreement
	a.Begin(1, 2, 5)
	first, _ := a.Next()
	if want := (Action{Part: Telling, Tell: 5 | Flagged, From: 0}); first != want {
		t.Errorf("first %+v, want %+v", first, want)
	}
	a.Begin(1, 2, 7)
	again, more := a.Next()
	if want := (Action{Part: Telling, From: 0}); again != want || !more || !a.Active() {
		t.Errorf("again %+v, want %+v", again, want)
	}
	a.Take(4 | Flagged)
	for _, want := range []Action{{Part: Telling, From: 1}, {Part: Adopting, From: 0}, {Part: Adopting, Tell: 4 | Flagged, From: 1}} {
		if got, _ := a.Next(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		a.Take(0)
	}
	if s, more := a.Next(); more || a.Active() || a.Flags() != 4 {
		t.Errorf("%+v at the end, with flags %d; want 4", s, a.Flags())
	}
	a.Begin(0, 1, 3)
	if a.Flags() != 3 {
		t.Errorf("the next agreement has flags %d, want 3", a.Flags())
	}
}

// Every split of up to 65536 members has a value of its own, which carries no flags, and is
// read back from it.
func TestSplitsHaveValues(t *testing.T) {
	const members = 1 << 16
	last := notify.Value(0)
	for b := 1; b < 300; b++ {
		for a := range b {
			x := Split{a, b}
			if v := x.Value(); v != last+1 || ReadSplit(v) != x {
				t.Fatalf("%v has value %d after %d, which is read as %v", x, v, last, ReadSplit(v))
			}
			last++
		}
	}
	check := func(x Split) {
		if v := x.Value(); v == 0 || v&Flagged != 0 || ReadSplit(v) != x {
			t.Fatalf("%v has value %#x, which is read as %v", x, v, ReadSplit(v))
		}
	}
	for b := 1; b < members; b++ {
		check(Split{0, b})
		check(Split{b - 1, b})
		check(Split{rand.IntN(b), b})
	}
	for v := range notify.Value(1000) {
		if x := ReadSplit(Flagged - 1 - v); x.A < 0 || x.A >= x.B { // what a rank may send that breaks rules
			t.Fatalf("value %#x is read as %v", Flagged-1-v, x)
		}
	}
}

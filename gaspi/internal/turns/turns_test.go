package turns

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A tree is the members of a group: the children of member i are 2i+1 and 2i+2.
type tree struct {
	turns []*Turns
	keys  []CallKey // index is the member; on the way to it
	fails int       // how many Forwards are still to fail
}

var errUnreachable = errors.New("not reachable yet")

// A branch is the line of one member.
type branch struct {
	*tree
	me int
}

func (b branch) Arrived() bool { return b.keys[b.me] != 0 }

func (b branch) Take() CallKey {
	k := b.keys[b.me]
	b.keys[b.me] = 0
	return k
}

func (b branch) Forward(child int, key CallKey) error {
	if b.fails > 0 {
		b.fails--
		return errUnreachable
	}
	to := &b.keys[2*b.me+1+child]
	if *to != 0 {
		panic("a key is overwritten")
	}
	*to = key
	return nil
}

func newTree(n int) *tree {
	t := &tree{keys: make([]CallKey, n)}
	for m := range n {
		t.turns = append(t.turns, New(m == 0, max(0, min(2, n-2*m-1)), branch{t, m}))
	}
	return t
}

// TestOrder has members make the same calls, each from a goroutine of its own, in any order. All
// members carry them out in one order, one after the other, also when some Forwards fail and calls
// end early. A call ends when all members have begun it, as collective calls do.
func TestOrder(t *testing.T) {
	for n := 1; n <= 9; n++ {
		const calls = 6
		for range 30 {
			tr := newTree(n)
			tr.fails = rand.IntN(4)
			waiting, order, in := make([][]CallKey, n), make([][]CallKey, n), make([]CallKey, n)
			for m := range waiting {
				for _, k := range rand.Perm(calls) {
					waiting[m] = append(waiting[m], CallKey(k+1))
				}
			}
			for steps := 0; slices.ContainsFunc(order, func(o []CallKey) bool { return len(o) < calls }) || slices.Max(in) != 0; steps++ {
				if steps > 1e6 {
					t.Fatalf("%d members: they do not end; %v", n, order)
				}
				m := rand.IntN(n)
				switch k := in[m]; {
				case k == 0:
					key := CallKey(rand.IntN(calls) + 1)
					if !slices.Contains(waiting[m], key) || !tr.turns[m].Ready(key) {
						continue
					}
					mine, _, err := tr.turns[m].Advance(key, fmt.Sprint("call ", key))
					if err != nil && !errors.Is(err, errUnreachable) {
						t.Fatal(err)
					}
					if mine {
						in[m] = key
						if !slices.Contains(order[m], key) {
							order[m] = append(order[m], key)
						}
					}
				case rand.IntN(3) == 0:
					tr.turns[m].Leave(false)
					in[m] = 0
				case slices.ContainsFunc(order, func(o []CallKey) bool { return !slices.Contains(o, k) }):
				default:
					tr.turns[m].Leave(true)
					waiting[m] = slices.DeleteFunc(waiting[m], func(w CallKey) bool { return w == k })
					in[m] = 0
				}
			}
			for m := range order {
				if !slices.Equal(order[m], order[0]) {
					t.Fatalf("member %d of %d carries out %v, the first %v", m, n, order[m], order[0])
				}
			}
		}
	}
}

// TestOneMember has the states of a call.
func TestOneMember(t *testing.T) {
	x := newTree(1).turns[0]
	expect := func(key CallKey, what string, held bool) {
		t.Helper()
		if k, w, h := x.UnderWay(); k != key || w != what || h != held || x.Begun() != (what != "") {
			t.Errorf("%d %q %t, begun: %t; want %d %q %t", k, w, h, x.Begun(), key, what, held)
		}
	}
	expect(0, "", false)
	if mine, _, err := x.Advance(7, "seven"); !mine || err != nil || x.Ready(7) {
		t.Errorf("%t, %v; ready again: %t", mine, err, x.Ready(7))
	}
	expect(7, "seven", true)
	x.Work = 1
	if work := x.Abandon(); work != nil {
		t.Errorf("work %v of a call that somebody is in was abandoned", work)
	}
	x.Leave(false)
	expect(7, "seven", false)
	if x.Ready(8) || !x.Ready(7) {
		t.Error("another call is ready than the one to be finished first")
	}
	if work := x.Abandon(); work != 1 || x.Work != nil {
		t.Errorf("abandoned %v, left %v; want 1 and none", work, x.Work)
	}
	x.Leave(true)
	expect(0, "", false)
}

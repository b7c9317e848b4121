package collectives

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
)

// TestCallsThatOvertakeOthers begins and ends calls in random orders, in which some last while
// hundreds of later ones end. Notes are of each call under way, a call between others without a note
// has ended, and the agreements since the earliest one under way never need a cell twice.
func TestCallsThatOvertakeOthers(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 1))
		o := operations{}
		for range 5_000 {
			if n := len(o.active); n > 0 && random.IntN(2) == 0 {
				// The first one or two last long.
				if i := random.IntN(n); i > 1 || random.IntN(100) == 0 {
					r := o.active[i]
					o.active = slices.Delete(o.active, i, i+1)
					r.p.busy, r.p.agreed, r.state = nil, true, ended
				}
				continue
			}
			if p := (&Plan{t: &Team{}, agreed: random.IntN(2) == 0}); o.hasRoom(p) {
				r := &run{call: o.next(0, false)}
				r.prepare(p)
				o.activate(r)
			}
			checkNotes(t, seed, &o)
			if t.Failed() {
				return
			}
		}
	}
}

func checkNotes(t *testing.T, seed uint64, o *operations) {
	t.Helper()
	noted := map[uint64]bool{}
	for _, n := range o.notes() {
		noted[n.Call] = true
	}
	for _, r := range o.active {
		if !noted[r.call] {
			t.Errorf("seed %d: call %d is under way and has no note, after call %d", seed, r.call, o.calls-1)
		}
		if r.state == agreeing && o.agreed-r.agree.Number() > agreement.Window {
			t.Errorf("seed %d: agreement %d is under way, and %d were begun", seed, r.agree.Number(), o.agreed)
		}
	}
	if want := min(o.calls, agreement.Window); uint64(len(noted)) != want || !noted[o.calls-1] {
		t.Errorf("seed %d: notes of calls %v, want %d and the last, %d, among them", seed, noted, want, o.calls-1)
	}
}

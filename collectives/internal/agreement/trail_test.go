package agreement

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// TestTrail has three members make calls at speeds of their own, of which one member makes another
// than the others: the member behind it, or that one itself, says which, and nobody does where all calls
// match. Where no call is one that may end alone, nothing is sent.
func TestTrail(t *testing.T) {
	const members = 3
	for _, c := range []struct {
		name   string
		calls  int
		strays int // call of member 1 that differs, or -1
		alone  int // the first so many calls need nobody
		lead   int // calls that each member makes before the member before it makes the first
		found  bool
	}{
		{"all match", 1000, -1, 1000, 0, false},
		{"the first differs", 200, 0, 200, 0, true},
		{"the last of a period differs", 200, 63, 200, 0, true},
		{"the first of a period differs", 500, 128, 500, 0, true},
		{"one in the middle differs", 1000, 777, 1000, 0, true},
		{"one that has not been told of yet", 1000, 999, 1000, 0, false},
		{"none ends alone", 1000, 500, 0, 0, false},
		{"only the first ends alone", 1000, 0, 1, 0, true},
		{"the first is told when it is forgotten", 5000, 0, 1, 3 * trailPeriods * TrailPeriod, true},
		{"all match, and the first is forgotten", 5000, -1, 1, 3 * trailPeriods * TrailPeriod, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranktest.Local(t, members, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
				lay := LayoutOf(members)
				seg, err := p.CreateSegment(ctx, 1, lay.Size(), gaspi.WithNotifications(uint32(lay.Notifications())))
				if err != nil {
					return err
				}
				q, err := p.CreateQueue()
				if err != nil {
					return err
				}
				me := int(p.Rank())
				m := NewMailbox(lay, seg, p.World().Ranks(), me, &flusher{q: q})
				var (
					trail Trail
					fork  Fork
					found uint64
				)
				meet := func(times int) (err error) {
					for i := 0; i < times && err == nil; i++ {
						err = p.Barrier(ctx, p.World())
					}
					return err
				}
				if err := meet(members - 1 - me); err != nil { // those behind lead
					return err
				}
				for call := range c.calls {
					if call == c.lead {
						if err := meet(me); err != nil {
							return err
						}
					}
					sign := uint64(call)*0x9e3779b97f4a7c15 + 1
					if me == 1 && call == c.strays {
						sign++
					}
					if found == 0 && trail.Ends(m) {
						f, differ, err := trail.Follow(ctx, m)
						if err != nil {
							return err
						}
						if differ {
							fork, found = f, 1
						}
					}
					if trail.Add(sign, call < c.alone); call >= c.lead && call%32 == 31 { // members get apart and meet
						if err := meet(1); err != nil {
							return err
						}
					}
				}
				exact := fork.Mine != fork.Theirs // else its period was skipped
				if found == 1 && (exact != (fork.Call == uint64(c.strays)) || fork.Call < uint64(c.strays) || fork.Member != (me+2)%members) {
					return fmt.Errorf("found %+v, want call %d", fork, c.strays)
				}
				if c.alone == 0 && p.Stats().Writes != 0 {
					return fmt.Errorf("%d writes, want none", p.Stats().Writes)
				}
				all := []uint64{found}
				if err := gaspi.AllReduce(ctx, p.World(), all, all, gaspi.Sum); err != nil {
					return err
				}
				if got := all[0] > 0; got != c.found {
					return fmt.Errorf("found by %d members, want %v", all[0], c.found)
				}
				return nil
			})
		})
	}
}

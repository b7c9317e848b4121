package peerstate

import (
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// TestReasons asks about ranks 1 to 3 after events: which one each question names, 0 for none.
func TestReasons(t *testing.T) {
	died := func(r base.Rank) func(*Table) {
		return func(t *Table) { t.Ended(&base.RankError{Rank: r, Reason: "killed"}) }
	}
	left := func(r base.Rank) func(*Table) {
		return func(t *Table) { t.Ended(&base.RankError{Rank: r, Reason: "ended", Left: true}) }
	}
	failed := func(r base.Rank) func(*Table) {
		return func(t *Table) { t.Failed(r, &base.RankError{Rank: r, Reason: "reset"}) }
	}
	pardoned := func(r base.Rank) func(*Table) { return func(t *Table) { t.Pardoned(r) } }
	acknowledged := func(t *Table) { t.Acknowledge() }
	for _, c := range []struct {
		name                             string
		events                           []func(*Table)
		absence, lost, firstLeft, orphan base.Rank // absence of rank 1
	}{
		{"all are there", nil, 0, 0, 0, 0},
		{"one died", []func(*Table){died(1)}, 1, 1, 0, 1},
		{"another died", []func(*Table){died(2)}, 0, 2, 0, 2},
		{"two died, in their order", []func(*Table){died(3), died(1)}, 1, 3, 0, 3},
		{"one left", []func(*Table){left(1)}, 1, 0, 1, 0},
		{"two left, in the order of the list", []func(*Table){left(3), left(2)}, 0, 0, 2, 0},
		{"all left", []func(*Table){left(3), left(1), left(2)}, 1, 0, 1, 1},
		{"all left, and the program knows", []func(*Table){left(3), left(1), left(2), acknowledged}, 1, 0, 1, 0},
		{"two left and one died", []func(*Table){left(3), left(1), died(2)}, 1, 2, 1, 2},
		{"an operation failed", []func(*Table){failed(1)}, 1, 1, 0, 1},
		{"one was pardoned that an operation found gone", []func(*Table){failed(1), pardoned(1)}, 0, 0, 0, 0},
		{"one was pardoned that died", []func(*Table){died(1), pardoned(1)}, 1, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, others := New(4), []base.Rank{1, 2, 3}
			for _, e := range c.events {
				e(table)
			}
			lost := error(nil)
			if why := table.FirstLost(others); why != nil {
				lost = why
			}
			for name, got := range map[string]struct {
				err  error
				want base.Rank
			}{
				"Absence":   {table.Absence(1), c.absence},
				"FirstLost": {lost, c.lost},
				"FirstLeft": {table.FirstLeft(others), c.firstLeft},
				"Orphaned":  {table.Orphaned(others), c.orphan},
			} {
				var named base.Rank
				if why, ok := errors.AsType[*base.RankError](got.err); ok {
					named = why.Rank
				}
				if named != got.want || (named == 0) != (got.err == nil) {
					t.Errorf("%s: %v, want one of rank %d", name, got.err, got.want)
				}
			}
		})
	}
	if err := New(1).Orphaned(nil); err != nil {
		t.Errorf("a job of one rank: %v", err)
	}
}

package status

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// TestWaitsAreRenewed has each row say what a wait is for by then, until the wait has ended.
func TestWaitsAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, err := os.Create(filepath.Join(t.TempDir(), "rows"))
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(FileSize(1, 4)); err != nil {
			t.Fatal(err)
		}
		out, err := NewWriter(file, 0, 1, 4)
		if err != nil {
			t.Fatal(err)
		}
		const period = time.Second
		teller := NewTeller(out, period, func() (Counts, PeerTable) { return Counts{}, PeerTable{} })
		defer teller.Close()
		missing := []base.Rank{1, 2, 3}
		var come atomic.Int32
		end := teller.Begin(Wait{Call: "several"}, func(w *Wait) { w.From = missing[come.Load():] })
		defer teller.Begin(Wait{Call: "one", From: []base.Rank{2}}, nil)()
		check := func(want ...[]base.Rank) {
			t.Helper()
			row, err := Read(file, 0)
			if err != nil || len(row.Waits) != len(want) {
				t.Fatalf("%d waits, want %d (%v)", len(row.Waits), len(want), err)
			}
			for i, w := range row.Waits {
				if !slices.Equal(w.From, want[i]) {
					t.Errorf("%s waits for %v, want %v", w.Call, w.From, want[i])
				}
			}
		}
		check(missing, []base.Rank{2})
		come.Store(2)
		time.Sleep(2 * period) // sleep: by the clock of the bubble, for the next row
		synctest.Wait()
		check(missing[2:], []base.Rank{2})
		end()
		check(missing[2:], []base.Rank{2})
		row, err := Read(file, 0)
		if err != nil || !row.Waits[0].Until.Equal(time.Now()) || !row.Waits[1].Until.IsZero() || !row.Moved.Equal(time.Now()) {
			t.Errorf("%+v, %v", row, err)
		}
		come.Store(0) // what renew looks at may be gone by now
		two := []func(){teller.Begin(Wait{Call: "two", From: missing}, nil), teller.Begin(Wait{Call: "two", From: missing}, nil)}
		check(missing[2:], []base.Rank{2}, missing, missing)
		for _, end := range two {
			end()
		}
		time.Sleep(linger) // sleep: likewise
		synctest.Wait()
		check([]base.Rank{2})
		since := time.Now()
		end = teller.Begin(Wait{Call: "slices", Since: since, From: missing[:1]}, nil)
		for i := range 3 { // a moment apart
			end()
			time.Sleep(linger / 2) // sleep: likewise
			end = teller.Begin(Wait{Call: "slices", Since: since.Add(time.Duration(i) * time.Millisecond), From: missing[i:]}, nil)
			check([]base.Rank{2}, missing[i:])
			time.Sleep(linger) // sleep: likewise, for the end of the wait before
			synctest.Wait()
			check([]base.Rank{2}, missing[i:])
		}
		before := end
		end = teller.Begin(Wait{Call: "slices", Since: since, From: missing[2:]}, nil)
		before()
		check([]base.Rank{2}, missing[2:])
		end()
	})
}

package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/status"
)

// Goal: all times of a row are moved to the clock of another host, and none that is not set.
func TestShift(t *testing.T) {
	at := func(by time.Duration) status.RankRow {
		now := time.Unix(1000, 0).Add(by)
		return status.RankRow{
			Joined: now.Add(-time.Minute), Beat: now, Moved: now.Add(-time.Second),
			Waits: []status.Wait{{Since: now.Add(-30 * time.Second), Until: now}, {Since: now.Add(-20 * time.Second)}},
		}
	}
	row := at(0)
	shift(&row, time.Hour)
	if d := cmp.Diff(at(time.Hour), row); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	none := status.RankRow{}
	if shift(&none, time.Hour); !none.Beat.IsZero() {
		t.Errorf("a row that nobody has written: %+v", none)
	}
}

package launcher

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
)

// TestCounted has waits in gaspi.Init count from when all ranks have been started, or go on after a pause.
func TestCounted(t *testing.T) {
	now := time.Unix(1000, 0)
	early, from, late := now.Add(-time.Hour), now.Add(-time.Minute), now.Add(-time.Second)
	for _, c := range []struct {
		name        string
		from        *time.Time
		since, want []time.Time
	}{
		{"nobody waits", &from, nil, nil},
		{"some ranks are being started yet", nil, []time.Time{early, {}, late}, []time.Time{now, {}, now}},
		{"all run", &from, []time.Time{early, {}, late}, []time.Time{from, {}, late}},
	} {
		if d := cmp.Diff(c.want, counted(c.since, c.from, now)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestResumedWaitsCountAnew resumes jobs: waits count from then on if all ranks run, and did not while the job was
// suspended; a SIGCONT of one that was not changes nothing.
func TestResumedWaitsCountAnew(t *testing.T) {
	before := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name     string
		begins   *time.Time
		starting int
		anew     bool
		counts   bool
	}{
		{"suspended", nil, 0, true, true},
		{"not suspended", &before, 0, false, true},
		{"ranks are being started yet", nil, 1, false, false},
	} {
		j := &job{policy: policy.New(policy.Rules{Ranks: 1})}
		j.policy.Begin(c.starting)
		j.begins.Store(c.begins)
		j.do(policy.Resume{})
		got := j.begins.Load()
		if (got != nil) != c.counts || c.anew && !got.After(before) || !c.anew && got != c.begins {
			t.Errorf("%s: waits count from %v", c.name, got)
		}
	}
}

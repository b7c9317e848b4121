package beside

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

const mostAgain = 4

// told is a distance whose handovers take so long one after the other, in microseconds, and the last one again and again.
func told(handovers ...time.Duration) *distance {
	return &distance{
		handover: func() time.Duration {
			now := handovers[0] * time.Microsecond
			if len(handovers) > 1 {
				handovers = handovers[1:]
			}
			return now
		},
		sleep: func(context.Context, time.Duration) {},
		most:  mostAgain,
	}
}

func TestNearAgain(t *testing.T) {
	for _, c := range []struct {
		name      string
		handovers []time.Duration
		waited    time.Duration
	}{
		{"near", []time.Duration{7}, 0},
		{"about as near", []time.Duration{7, 10}, 0},
		{"nearer than ever", []time.Duration{7, 3}, 0},
		{"not as near as ever", []time.Duration{7, 3, 6, 4}, lookPace},
		{"away", []time.Duration{7, 11, 23, 10}, 2 * lookPace},
		{"away for ever", []time.Duration{7, 23}, patience},
		{"not known", []time.Duration{0}, 0},
	} {
		d := told(c.handovers...)
		for range 3 {
			d.await(t.Context())
		}
		if d.waited != c.waited {
			t.Errorf("%s: waited %v, want %v", c.name, d.waited, c.waited)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := told(7, 23)
	d.await(ctx)
	if d.await(ctx); d.waited != 0 {
		t.Errorf("waited %v for a context that has ended", d.waited)
	}
}

// TestRepeatedRuns has runs of which each row carries its number.
func TestRepeatedRuns(t *testing.T) {
	failure := errors.New("failure")
	for _, c := range []struct {
		name      string
		handovers []time.Duration // before and behind each run
		note      string
		err       error
		runs      int
		counts    []float64
	}{
		{"near", []time.Duration{7, 7}, "", nil, 1, []float64{1}},
		{"away behind the first", []time.Duration{7, 23, 7, 7}, "", nil, 2, []float64{2}},
		{"near before the third", []time.Duration{7, 23, 23, 7, 23, 7}, "", nil, 3, []float64{3}},
		{"away for ever", []time.Duration{7, 23}, "", nil, mostAgain + 1, []float64{mostAgain + 1}},
		{"failed while away", []time.Duration{7, 23}, "", failure, 1, []float64{1}},
		{"over its limit while away", []time.Duration{7, 23, 7}, "over limit", nil, 2, []float64{2}},
	} {
		apart := told(c.handovers...)
		m, runs := &comparison{apart: apart}, 0
		err := m.nearby(t.Context(), 0, func(add func(report.Row)) error {
			runs++
			add(report.Row{Op: "latency", P50US: float64(runs)})
			if runs == 1 && c.note != "" {
				add(report.Row{Op: "barrier", Note: c.note})
			}
			return c.err
		})
		var counts []float64
		note := ""
		for _, r := range m.tally.Sorted() {
			for _, round := range r.Rounds {
				counts = append(counts, round.P50US)
			}
			note += r.Note
		}
		if err != c.err || runs != c.runs || !slices.Equal(counts, c.counts) || note != c.note {
			t.Errorf("%s: %v, %d runs, of which %v count, note %q; want %v, %d, %v, %q", c.name, err, runs, counts, note, c.err, c.runs, c.counts, c.note)
		}
		if said := m.remarks(); len(said) != min(c.runs-1, 1) {
			t.Errorf("%s: said %q", c.name, said)
		}
	}
}

func TestWatchOfBoundRanks(t *testing.T) {
	for bind, want := range map[string]int{"core": 5 * (2 + 3), "auto": 0, "none": 0} {
		m := &comparison{Sides: Sides{Bind: bind, Peers: Peers{Repetitions: 5}}, runs: make([]*peerRun, 3)}
		if m.watch([]int{0, 1}); (m.apart != nil) != (want > 0) || want > 0 && m.apart.most != want {
			t.Errorf("--bind %s: %+v, want %d runs at most to be repeated", bind, m.apart, want)
		}
		if m.apart == nil && len(m.remarks()) > 0 {
			t.Errorf("--bind %s: said %q", bind, m.remarks())
		}
	}
}

func TestHandover(t *testing.T) {
	if d := measureHandover([]int{0}); d != 0 {
		t.Errorf("a handover on one core takes %v, want 0", d)
	}
	if d := measureHandover([]int{1 << 9, 1<<9 + 1}); d != 0 {
		t.Errorf("a handover between cores that are not there takes %v, want 0", d)
	}
	if cores, err := thread.Cores(); err == nil && len(cores) > 1 && runtime.GOMAXPROCS(0) > 1 && measureHandover(cores) <= 0 {
		t.Error("a handover takes no time")
	}
}

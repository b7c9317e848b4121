package figure

import (
	"io"
	"testing"
	"time"
)

// Goal: a sweep of which nothing was measured has no chart, and its page can be written.
func TestPageOfNothing(t *testing.T) {
	f := &Figure{Name: "x", Sweep: measured()}
	times := NewTimes(Raw, f.Sweep.Grids[Raw], "nowhere")
	if charts := f.Chart.charts(f.Sweep, times); charts != nil {
		t.Errorf("%d charts", len(charts))
	}
	r := &FigureResult{Figure: f, Parts: []Part{{Way: Raw, Cut: "late", Tables: []Table{f.Sweep.table(times)}}}}
	if err := NewPage([]*FigureResult{r}, HostInfo{}, time.Now(), 0).Write(io.Discard); err != nil {
		t.Error(err)
	}
}

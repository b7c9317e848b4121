package figure

import "testing"

// Goal: a sweep of which nothing was measured has no chart.
func TestChartOfNothing(t *testing.T) {
	s := measured()
	if charts := (ChartForm{}).charts(s, NewTimes(Raw, s.Grids[Raw], "nowhere")); charts != nil {
		t.Errorf("%d charts", len(charts))
	}
}

package figure

import (
	"math"
	"testing"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/loop"
)

// Goal: of a loop that was cut, the rows that there are can be drawn, and no claim about a row
// that is missing has an outcome.
func TestCutLoop(t *testing.T) {
	nan := math.NaN()
	none := loop.Row{Call: nan, Wait: nan, Rate: nan}
	r := &looped{&loop.Measured{
		Loop: loop.Loop{Slacks: []int{0, 2}}, Stale: []loop.Row{{Call: 2e-3, Wait: 1e-3, Rate: 100}, none}, Ring: none, Calm: [2]loop.Row{none, none},
	}}
	p := &Part{Charts: r.charts(Raw), Tables: []Table{r.table()}}
	p.judge(&SweepTimes{Way: Raw}, r.claims()...)
	for _, v := range p.Verdicts {
		if v.Outcome != Unknown || !math.IsNaN(v.Number) {
			t.Errorf("%s", v.Line())
		}
	}
	if !p.Charts[0].Drawable() || p.Tables[0].Rows[0][1] != "2" || p.Tables[0].Rows[1][1] != "-" {
		t.Errorf("table %v", p.Tables[0].Rows)
	}
}

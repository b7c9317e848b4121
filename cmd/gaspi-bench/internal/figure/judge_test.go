package figure

import (
	"math"
	"testing"
)

func TestJudge(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name     string
		kind     Quantity
		accepted Band
		number   float64
		want     Outcome
	}{
		{"gain within", Gain, Band{1.1, 1.3}, 1.2, Holds},
		{"gain at the lower end", Gain, Band{1.1, 1.3}, 1.1, Holds},
		{"gain at the upper end", Gain, Band{1.1, 1.3}, 1.3, Holds},
		{"gain beyond", Gain, Band{1.1, 1.3}, 1.31, Stronger},
		{"gain below", Gain, Band{1.5, 2}, 1.2, Weaker},
		{"gain too small to tell", Gain, Band{1.5, 2}, 1.05, Absent},
		{"no gain", Gain, Band{1.5, 2}, 1, Absent},
		{"loss too small to tell", Gain, Band{1.5, 2}, 0.95, Absent},
		{"loss", Gain, Band{1.5, 2}, 0.94, Reversed},
		{"gain unknown", Gain, Band{1.5, 2}, nan, Unknown},
		{"no gain, as said", NoGain, Band{0.9, 1.05}, 0.97, Holds},
		{"a gain where there was none", NoGain, Band{0.9, 1.05}, 1.2, Reversed},
		{"a loss where there was no gain", NoGain, Band{0.9, 1.05}, 0.5, Stronger},
		{"as fast or faster", NoLoss, Band{0.91, math.Inf(1)}, 3, Holds},
		{"slower where it was as fast", NoLoss, Band{0.91, 2}, 0.8, Reversed},
		{"faster than that", NoLoss, Band{0.91, 2}, 3, Stronger},
		{"alike", Alike, Band{0.9, 1.1}, 1.08, Holds},
		{"not alike, above", Alike, Band{0.9, 1.1}, 2, Absent},
		{"not alike, below", Alike, Band{0.9, 1.1}, 0.5, Absent},
		{"crossover within", Crossover, Band{mib, 4 * mib}, 2 * mib, Holds},
		{"crossover earlier", Crossover, Band{mib, 4 * mib}, kib, Stronger},
		{"crossover later", Crossover, Band{mib, 4 * mib}, 8 * mib, Weaker},
		{"no crossover", Crossover, Band{mib, 4 * mib}, inf, Absent},
		{"crossover unknown", Crossover, Band{mib, 4 * mib}, nan, Unknown},
		{"share within", Share, Band{0.28, 0.37}, 0.3, Holds},
		{"share above", Share, Band{0.28, 0.37}, 0.5, Stronger},
		{"share below", Share, Band{0.28, 0.37}, 0.1, Weaker},
		{"count", Count, Band{18, 18}, 18, Holds},
		{"another count", Count, Band{18, 18}, 17, Absent},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Judge(c.kind, c.accepted, c.number); got != c.want {
				t.Errorf("Judge(%v, %v, %v) = %v, want %v", c.kind, c.accepted, c.number, got, c.want)
			}
		})
	}
}

// TestWiden is the rule by which a paper's range becomes the accepted band, kind by kind.
func TestWiden(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		kind      Quantity
		own, want Band
	}{
		{"a tenth at either end", Gain, Band{2, 3}, Band{2 / 1.1, 3 * 1.1}},
		{"no difference is no gain", Gain, Band{1.06, 1.06}, Band{1.05, 1.06 * 1.1}},
		{"faster", Gain, Gain.stated(), Band{1.05, inf}},
		{"a gain is not none", NoGain, Band{0.9, 1}, Band{0.9 / 1.1, 1.05}},
		{"not faster", NoGain, NoGain.stated(), Band{0, 1.05}},
		{"as fast or faster", NoLoss, NoLoss.stated(), Band{1 / 1.1, inf}},
		{"similar", Alike, Alike.stated(), Band{1 / 1.1, 1.1}},
		{"a step of the lengths", Crossover, Band{mib, 2 * mib}, Band{mib / 2, 4 * mib}},
		{"five points", Share, Band{0.25, 0.5}, Band{0.25 - near, 0.5 + near}},
		{"none", Share, Share.stated(), Band{-near, near}},
		{"counts are exact", Count, Band{18, 18}, Band{18, 18}},
	} {
		if got := c.kind.Widen(c.own); math.Abs(got.Low-c.want.Low) > 1e-9 || got.High != c.want.High && math.Abs(got.High-c.want.High) > 1e-9 {
			t.Errorf("%s: %v becomes %v, want %v", c.name, c.own, got, c.want)
		}
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		kind Quantity
		band Band
		want string
	}{
		{Gain, Band{1.1, 1.25}, "1.10x to 1.25x"},
		{Gain, Band{5, 5}, "5.00x"},
		{Gain, Band{12.34, 123.4}, "12.3x to 123x"},
		{Gain, Band{2, math.Inf(1)}, "at least 2.00x"},
		{Share, Band{0, 0.14}, "at most 14 %"},
		{Share, Band{0.28, 0.37}, "28 % to 37 %"},
		{Crossover, Band{mib, 2 * mib}, "1 MiB to 2 MiB"},
		{Crossover, Band{math.Inf(1), math.Inf(1)}, "never"},
		{Count, Band{18, 18}, "18"},
	} {
		if got := c.kind.ShowBand(c.band); got != c.want {
			t.Errorf("%v of %v is shown as %q, want %q", c.kind, c.band, got, c.want)
		}
	}
	if got := Gain.Show(math.NaN()); got != "-" {
		t.Errorf("a missing number is shown as %q", got)
	}
}

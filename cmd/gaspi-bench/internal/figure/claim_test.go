package figure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

func TestJudgeClaim(t *testing.T) {
	c := Claim{
		Text: "a is faster", Kind: Gain, Paper: between(1.1, 1.25, "Section 9"),
		Number: faster("a", "b", 8),
		Why: []Reason{
			{Outcome: Stronger, Ways: []Setting{Simulated}, Text: "Too good.", Detail: func(*SweepTimes) string { return "By far." }},
			{Outcome: Absent, Text: "Nothing."},
		},
	}
	for _, test := range []struct {
		name string
		way  Setting
		b    float64 // of a's 10
		want string
	}{
		{"holds", Simulated, 12, "holds: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, simulated 1.20x"},
		{"a reason with a detail", Simulated, 20, "stronger: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, simulated 2.00x. Too good. By far."},
		{"a reason for another way", Emulated, 20, "stronger: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, emulated 2.00x"},
		{"a reason for all ways", Emulated, 10, "absent: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, emulated 1.00x. Nothing."},
		{"no reason", Simulated, 5, "reversed: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, simulated 0.50x"},
		{"one machine", Raw, 5, "reversed: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, raw 0.50x. " + oneMachine.Text},
		{"one machine is no reason to hold", Raw, 12, "holds: a is faster; paper 1.10x to 1.25x, accepted 1.05x to 1.38x, raw 1.20x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			times := timesOf([]int{mib}, []float64{10}, []float64{test.b})
			times.Way = test.way
			v := c.judge(times)
			if got := v.Line(); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestDoubt(t *testing.T) {
	c := Claim{Text: "a is faster", Kind: Gain, Paper: exactly(1.2, "Section 9"), Number: faster("a", "b", 8)}
	times := timesOf([]int{kib, mib}, []float64{10, 10}, []float64{12, 12})
	times.Way, times.Doubt = Emulated, "something"
	times.Set(Point{"a", 8, kib}, Timing{Seconds: 10e-6, Invalid: true})
	if v := c.judge(times); v.Doubt != "" {
		t.Errorf("a time that the number does not come from raises the doubt %q", v.Doubt)
	}
	times.Set(Point{"a", 8, mib}, Timing{Seconds: 10e-6, Invalid: true})
	if v := c.judge(times); !strings.Contains(v.Line(), "(not valid: in 1 of its 2 times this host could not carry the emulated network)") {
		t.Errorf("a doubt is not told: %q", v.Line())
	}
	times.Set(Point{"b", 8, mib}, Timing{Seconds: 12e-6, Invalid: true})
	if v := c.judge(times); v.Doubt != "in none of its 2 times could this host carry the emulated network" {
		t.Errorf("a doubt about all times is told as %q", v.Doubt)
	}
	one := Claim{Text: "a is fast", Kind: Gain, Number: func(t *SweepTimes) float64 { return 1 / t.seconds("a", 8, mib) }}
	if v := one.judge(times); v.Doubt != "its only time was measured while this host could not carry the emulated network" {
		t.Errorf("a doubt about one time is told as %q", v.Doubt)
	}
	none := &SweepTimes{Way: Emulated, Doubt: "late"}
	if v := (&Claim{Kind: Gain, Number: func(*SweepTimes) float64 { return 2 }}).judge(none); v.Doubt != "late" {
		t.Errorf("the doubt about all is told as %q", v.Doubt)
	}
}

// Goal: a measurement that ended early says nothing about a claim of which it lacks times: the mean of the others is
// another number. Times that nobody can measure are not missed.
func TestCutClaim(t *testing.T) {
	c := Claim{Text: "a is faster", Kind: Gain, Paper: exactly(1.2, "Section 9"), Number: func(t *SweepTimes) float64 {
		return t.Faster("a", "b", []int{8}, []int{kib, mib})
	}}
	for _, test := range []struct {
		name    string
		cut     string
		without bool
		want    string
	}{
		{"all was measured", "", false, "holds: a is faster; paper 1.20x, accepted 1.09x to 1.32x, raw 1.20x"},
		{"it ended early", "it took longer", false, "not measured: a is faster; paper 1.20x, accepted 1.09x to 1.32x, raw -. Not measured before the end: 1 of the 4 times that it takes."},
		{"it ended early, and there is no such time", "it took longer", true, "holds: a is faster; paper 1.20x, accepted 1.09x to 1.32x, raw 1.20x"},
	} {
		times := NewTimes(Raw, Grid{Ranks: []int{8}, Bytes: []int{kib, mib}, Large: mib}, "")
		times.Cut = test.cut
		for p, us := range map[Point]float64{{"a", 8, kib}: 10, {"b", 8, kib}: 12, {"a", 8, mib}: 10} {
			times.Set(p, Timing{Seconds: us * 1e-6})
		}
		times.without[Point{"b", 8, mib}] = test.without
		v := c.judge(times)
		v.Why = strings.TrimPrefix(v.Why, oneMachine.Text)
		if got := v.Line(); got != test.want {
			t.Errorf("%s: %q\nwant %q", test.name, got, test.want)
		}
	}
}

// Goal: the paper's own numbers hold, the rule never takes "no difference" for a gain, and each
// claim says where it stands.
func TestPapersHoldByTheirOwnNumbers(t *testing.T) {
	for _, f := range All() {
		claims := f.claimsIn(Simulated)
		if f.Sweep == nil && slices.Contains(f.Ways, Simulated) {
			for _, v := range verdicts(t, f.Name) {
				claims = append(claims, v.Claim)
			}
		}
		for i := range f.Claims {
			claims = append(claims, &f.Claims[i])
		}
		for _, c := range claims {
			own, accepted := c.Paper.Band, c.Accepted()
			if c.Paper.Source == "" {
				t.Errorf("%s: %q has no source", f.Name, c.Text)
			}
			if c.Paper.Text != "" {
				own = Band{1, 1}
			}
			if c.Kind == Gain && accepted.Contains(1) || c.Kind == Alike && !accepted.Contains(1) {
				t.Errorf("%s: %q: %s is accepted", f.Name, c.Text, c.Kind.ShowBand(accepted))
			}
			if c.Kind == Gain && c.Paper.Text == "" && (!accepted.Contains(max(own.Low, 1+near)) || !accepted.Contains(own.High)) {
				t.Errorf("%s: %q: the paper says %s, but %s is accepted", f.Name, c.Text, c.Paper.Show(c.Kind), c.Kind.ShowBand(accepted))
			}
		}
	}
}

// Goal: a number that the host could not carry has no outcome, so that it counts as not measured.
func TestNotCarriedIsNotMeasured(t *testing.T) {
	c := Claim{Text: "a is faster", Kind: Gain, Paper: exactly(1.2, "Section 9"), Number: faster("a", "b", 8)}
	for _, test := range []struct {
		cores int
		way   Setting
		want  Outcome
	}{
		{8, Raw, Holds}, {7, Raw, Unknown}, {0, Raw, Holds}, {2, Emulated, Holds},
	} {
		times := NewTimes(test.way, Grid{Ranks: []int{8}, Bytes: []int{mib}, Large: mib}, "")
		times.cores = test.cores
		for name, us := range map[string]float64{"a": 10, "b": 12} {
			times.note(Point{name, 8, mib}, 0, &report.Row{P50US: us})
		}
		times.settle()
		v := c.judge(times)
		if v.Outcome != test.want || (v.Doubt != "") != (test.want == Unknown) || math.Abs(v.Number-1.2) > 1e-9 || v.Why != "" {
			t.Errorf("8 ranks on %d cores, %v: %+v, want %v", test.cores, test.way, v, test.want)
		}
		if test.want == Unknown && (!strings.Contains(times.Doubt, "more ranks than its 7 cores in 2 of 2 times") || times.Rows[0].Carried) {
			t.Errorf("the doubt is %q, the rows %+v", times.Doubt, times.Rows)
		}
	}
}

package figure

import (
	"strings"
	"testing"
)

func TestJudgeClaim(t *testing.T) {
	c := Claim{
		Text: "a is faster", Kind: Gain, Paper: between(1.1, 1.25, "Section 9"), Accept: Band{1.1, 1.3},
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
		{"holds", Simulated, 12, "holds: a is faster; paper 1.10x to 1.25x, simulated 1.20x"},
		{"a reason with a detail", Simulated, 20, "stronger: a is faster; paper 1.10x to 1.25x, simulated 2.00x. Too good. By far."},
		{"a reason for another way", Emulated, 20, "stronger: a is faster; paper 1.10x to 1.25x, emulated 2.00x"},
		{"a reason for all ways", Emulated, 10, "absent: a is faster; paper 1.10x to 1.25x, emulated 1.00x. Nothing."},
		{"no reason", Simulated, 5, "reversed: a is faster; paper 1.10x to 1.25x, simulated 0.50x"},
		{"one machine", Raw, 5, "reversed: a is faster; paper 1.10x to 1.25x, raw 0.50x. " + oneMachine.Text},
		{"one machine is no reason to hold", Raw, 12, "holds: a is faster; paper 1.10x to 1.25x, raw 1.20x"},
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
	times.Doubt = "something"
	times.Set(Point{"a", 8, kib}, Timing{Seconds: 10e-6, Invalid: true})
	if v := c.judge(times); v.Doubt != "" {
		t.Errorf("a time that the number does not come from raises the doubt %q", v.Doubt)
	}
	times.Set(Point{"a", 8, mib}, Timing{Seconds: 10e-6, Invalid: true})
	if v := c.judge(times); !strings.Contains(v.Line(), "(not valid: in 1 of its 2 times this host could not carry the emulated network)") {
		t.Errorf("a doubt is not told: %q", v.Line())
	}
	none := &SweepTimes{Way: Emulated, Doubt: "late"}
	if v := (&Claim{Kind: Gain, Number: func(*SweepTimes) float64 { return 2 }}).judge(none); v.Doubt != "late" {
		t.Errorf("the doubt about all is told as %q", v.Doubt)
	}
}

// Goal: what the paper's own numbers say of its claims is that they hold.
func TestPapersHoldByTheirOwnNumbers(t *testing.T) {
	for _, f := range All() {
		for _, c := range f.Claims {
			if c.Paper.Source == "" {
				t.Errorf("%s: %q has no source", f.Name, c.Text)
			}
			if c.Paper.Text != "" {
				continue
			}
			accepted := c.Accept
			if accepted == (Band{}) {
				accepted = c.Paper.Band
			}
			if accepted.Low > c.Paper.High || accepted.High < c.Paper.Low {
				t.Errorf("%s: %q: the paper says %s, but %s is accepted", f.Name, c.Text, c.Paper.Show(c.Kind), c.Kind.ShowBand(accepted))
			}
		}
	}
}

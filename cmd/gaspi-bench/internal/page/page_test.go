package page

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
)

// sample is a figure with a claim that holds in one way, was cut in another, and was not
// measured in the third.
func sample() *figure.FigureResult {
	c := &figure.Claim{Text: "a is faster", Kind: figure.Gain, Paper: figure.Reading{Band: figure.Band{Low: 2, High: 2}, Source: "Fig. 1"}}
	f := &figure.Figure{Name: "x", Paper: figure.Paper{Name: "p", Title: "The paper"}, Place: "Fig. 1", Title: "A and b", About: "What was done."}
	return &figure.FigureResult{Figure: f, Parts: []figure.Part{
		{
			Way: figure.Simulated, Setting: "a model", Tables: []figure.Table{{Title: "Time", Head: []string{"ranks", "a"}, Rows: [][]string{{"16", "2.5"}}}},
			Verdicts: []figure.Verdict{{Claim: c, Way: figure.Simulated, Number: 2, Outcome: figure.Holds}},
		},
		{
			Way: figure.Emulated, Setting: "links", Doubt: "late", Cut: "it was interrupted",
			Verdicts: []figure.Verdict{{Claim: c, Way: figure.Emulated, Number: 1, Outcome: figure.Absent, Why: "Nothing."}},
		},
		{
			Way: figure.Raw, Missing: "no cores",
			Verdicts: []figure.Verdict{{Claim: c, Way: figure.Raw, Number: math.NaN(), Outcome: figure.Unknown}},
		},
	}}
}

// Goal: a report says how many of its figures were cut.
func TestShort(t *testing.T) {
	whole := sample()
	whole.Parts = whole.Parts[:1]
	for want, results := range map[string][]*figure.FigureResult{
		"": {whole},
		"2 of 3 figures lack times or rounds of them, in 2 ways, each of which says why": {sample(), whole, sample()},
	} {
		if got := NewPage(results, HostInfo{}, time.Now(), 0).Short(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWriteText(t *testing.T) {
	const want = `x: Fig. 1 of "The paper": A and b
What was done.

simulated: a model

  Time
  ranks  a
  16     2.5

  holds: a is faster; paper 2.00x, accepted 1.82x to 2.20x, simulated 2.00x

emulated: links
not valid: late
not complete: it was interrupted

  absent: a is faster; paper 2.00x, accepted 1.82x to 2.20x, emulated 1.00x. Nothing.

raw: not measured: no cores
`
	var text strings.Builder
	if err := WriteText(&text, sample()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, text.String()); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
}

// Goal: the page has a claim once, with its outcome in each way, and says what is missing.
func TestPage(t *testing.T) {
	p := NewPage([]*figure.FigureResult{sample()}, HostInfo{Name: "h"}, time.Now(), 0)
	p.Cut = "it was interrupted, and has 1 of 2 figures"
	var page strings.Builder
	if err := p.Write(&page); err != nil {
		t.Fatal(err)
	}
	for want, count := range map[string]int{
		`id="x"`: 1, `<span class="number">1.82x to 2.20x</span>`: 1, `download="x-simulated.csv" href="data:text/csv;base64,`: 1, "function nearest(": 1, ".chart {": 1, "<td>a is faster": 1, `holds">holds</span></td>`: 1, `absent">absent</span></td>`: 1, "no cores": 1, "Not complete: it was interrupted<": 1, "Not complete: it was interrupted, and has 1 of 2 figures": 1,
	} {
		if got := strings.Count(page.String(), want); got != count {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, count, page.String())
		}
	}
	if got := p.Tally(); got != "3 verdicts: 1 holds, 1 absent, 1 not measured" || !p.Made() {
		t.Errorf("tally %q, made %v", got, p.Made())
	}
	nothing := sample()
	nothing.Parts = nothing.Parts[2:]
	if NewPage([]*figure.FigureResult{nothing}, HostInfo{}, time.Now(), 0).Made() {
		t.Error("a page of nothing has been made")
	}
}

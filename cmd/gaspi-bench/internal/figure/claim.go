package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Reading is a number of a paper: between two bounds, which are equal where it gives
// one number, and where it stands.
type Reading struct {
	Band
	// Text stands for the numbers where the paper gives none of this kind.
	Text   string
	Source string // such as "Section 5.2" or "axis of Fig. 14"
}

// Show writes a reading of a number of that kind.
func (r *Reading) Show(k Quantity) string {
	if r.Text != "" {
		return r.Text
	}
	return k.ShowBand(r.Band)
}

// exactly is a reading of one number.
func exactly(x float64, source string) Reading { return Reading{Band: Band{x, x}, Source: source} }

// between is a reading of two.
func between(low, high float64, source string) Reading {
	return Reading{Band: Band{low, high}, Source: source}
}

// saying is a reading of no number.
func saying(text, source string) Reading { return Reading{Text: text, Source: source} }

// A Claim is a statement of a paper about a figure.
type Claim struct {
	Text  string // the statement, without its number
	Kind  Quantity
	Paper Reading
	// Only are the ways in which there is such a number; nil is all.
	Only []Setting
	// Number is ours.
	Number func(t *SweepTimes) float64
	// Why says, where the outcome is that and the way is that, where it comes from. It is
	// looked up by way and outcome, then by outcome, so that nothing is said of what did
	// not happen.
	Why []Reason
}

// Accepted is the band in which the claim holds: the paper's own range, widened as Widen
// says. A statement without a number has the range that its kind has.
func (c *Claim) Accepted() Band {
	own := c.Paper.Band
	if c.Paper.Text != "" {
		own = c.Kind.stated()
	}
	return c.Kind.Widen(own)
}

// A Reason explains an outcome.
type Reason struct {
	Outcome Outcome
	Ways    []Setting // nil for all
	Text    string
	// Detail, if not nil, is numbers to go with it.
	Detail func(t *SweepTimes) string
}

// A Verdict is a claim beside our number in one way.
type Verdict struct {
	Claim   *Claim
	Way     Setting
	Number  float64
	Outcome Outcome
	Why     string // empty where there is nothing to say
	Doubt   string // why the number cannot be trusted, empty if it can
}

// known is a number that does not depend on times.
func known(x float64) func(*SweepTimes) float64 { return func(*SweepTimes) float64 { return x } }

// among reports whether a way is one of some; nil is all.
func among(some []Setting, way Setting) bool { return some == nil || slices.Contains(some, way) }

// judge adds what became of claims.
func (p *Part) judge(t *SweepTimes, claims ...*Claim) {
	for _, c := range claims {
		p.Verdicts = append(p.Verdicts, c.judge(t))
	}
}

// judge compares a claim with what came out.
func (c *Claim) judge(t *SweepTimes) Verdict {
	v := Verdict{Claim: c, Way: t.Way}
	var lack string
	if v.Number, v.Doubt, lack = t.ask(c.Number); lack != "" { // the number is that of the times that came first
		v.Number, v.Doubt, v.Why = math.NaN(), "", lack
		return v
	}
	if v.Doubt != "" { // the number says something about this host
		return v
	}
	v.Outcome = Judge(c.Kind, c.Accepted(), v.Number)
	v.Why = c.why(t, v.Outcome)
	return v
}

// ask is a number of times, why it cannot be trusted, because times that it comes from cannot, or all, and which of them
// are missing because the measurement ended early; both are empty of a number that is whole.
func (t *SweepTimes) ask(number func(*SweepTimes) float64) (x float64, doubt, lack string) {
	t.asked, t.lacking = make(map[Point]bool), make(map[Point]bool)
	defer func() { t.asked, t.lacking = nil, nil }()
	x = number(t)
	bad := 0
	for p := range t.asked {
		if t.points[p].Invalid {
			bad++
		}
	}
	if n := len(t.lacking); n > 0 {
		lack = fmt.Sprintf("Not measured before the end: %d of the %d times that it takes.", n, n+len(t.asked))
	}
	switch all := len(t.asked); {
	case bad == 1 && all == 1:
		return x, "its only time was measured while this host could not carry " + t.load(), lack
	case bad == all && bad > 0:
		return x, fmt.Sprintf("in none of its %d times could this host carry %s", all, t.load()), lack
	case bad > 0:
		return x, fmt.Sprintf("in %d of its %d times this host could not carry %s", bad, all, t.load()), lack
	case len(t.points) == 0: // the number comes from elsewhere
		return x, t.Doubt, lack
	}
	return x, "", lack
}

// why is the first reason that speaks of the way and the outcome.
func (c *Claim) why(t *SweepTimes, o Outcome) string {
	for _, r := range append(c.Why[:len(c.Why):len(c.Why)], oneMachine) {
		if r.Outcome != o && !(r.Outcome == anyMiss && o != Holds && o != Unknown) || !among(r.Ways, t.Way) {
			continue
		}
		if r.Detail == nil {
			return r.Text
		}
		return strings.TrimSpace(r.Text + " " + r.Detail(t))
	}
	return ""
}

// anyMiss stands, in reasons, for every outcome but Holds.
const anyMiss Outcome = -1

// oneMachine is what is true of everything that differs on one machine.
var oneMachine = Reason{
	Outcome: anyMiss, Ways: []Setting{Raw},
	Text: "All ranks share the processors and the memory of one machine here: what counts is the bytes and the work of all ranks together, not those of the busiest link.",
}

// Line is the verdict as a sentence.
func (v *Verdict) Line() string {
	kind := v.Claim.Kind
	s := fmt.Sprintf("%s: %s; paper %s, accepted %s, %s %s", v.Outcome, v.Claim.Text, v.Claim.Paper.Show(kind), kind.ShowBand(v.Claim.Accepted()), v.Way, kind.Show(v.Number))
	if v.Doubt != "" {
		s += " (not valid: " + v.Doubt + ")"
	}
	if v.Why != "" {
		s += ". " + v.Why
	}
	return s
}

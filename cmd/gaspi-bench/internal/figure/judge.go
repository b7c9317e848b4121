package figure

import (
	"fmt"
	"math"
)

// An Outcome is what became of a claim in one way.
type Outcome int

// The outcomes. Which of them a claim can have depends on its Kind.
const (
	// Unknown: there are no numbers.
	Unknown Outcome = iota
	// Holds: as the paper says, within what is accepted.
	Holds
	// Stronger: the effect is there and larger than in the paper.
	Stronger
	// Weaker: the effect is there and smaller.
	Weaker
	// Absent: there is no effect.
	Absent
	// Reversed: the effect is the opposite.
	Reversed
)

// String is an outcome as it stands in a table.
func (o Outcome) String() string {
	switch o {
	case Holds:
		return "holds"
	case Stronger:
		return "stronger"
	case Weaker:
		return "weaker"
	case Absent:
		return "absent"
	case Reversed:
		return "reversed"
	}
	return "not measured"
}

// A Quantity is what sort of number a claim is about.
type Quantity int

// The kinds of claims.
const (
	// Gain is how many times as fast something is as something else. It is expected to
	// be above 1.
	Gain Quantity = iota
	// NoGain is the same, where the paper found that there is nothing to be gained.
	NoGain
	// NoLoss is the same, where the paper found it to be as fast or faster.
	NoLoss
	// Alike is the same, where the paper found no difference in either direction.
	Alike
	// Crossover is the length, in bytes, from which on something is faster.
	Crossover
	// Share is a part of a whole, from 0 to 1.
	Share
	// Count is a number of things, exact.
	Count
)

// A Band is an interval.
type Band struct{ Low, High float64 }

// Contains reports whether x is in the band, its ends included.
func (b Band) Contains(x float64) bool { return x >= b.Low && x <= b.High }

// near is how far from 1 a ratio of times is taken for no difference: that much two
// measurements of the same thing differ on a busy machine.
const near = 0.05

// Parts by which the range of a paper is widened: ratios by a tenth of either end, which is
// how exactly they can be read off a chart, and lengths by a factor of two, the step of the
// lengths that are measured. Shares are widened by near.
const (
	ratioRoom  = 1.1
	lengthRoom = 2
)

// Widen is the band that is accepted where a paper's own range is b: the one rule of all
// claims. It never takes "no difference" for a gain, nor a gain for "no gain": these begin
// near from 1. Counts are exact.
func (k Quantity) Widen(b Band) Band {
	wider := Band{b.Low / ratioRoom, b.High * ratioRoom}
	switch k {
	case Gain:
		wider.Low = max(wider.Low, 1+near)
	case NoGain:
		wider.High = min(wider.High, 1+near)
	case Crossover:
		return Band{b.Low / lengthRoom, b.High * lengthRoom}
	case Share:
		return Band{b.Low - near, b.High + near}
	case Count:
		return b
	}
	return wider
}

// stated is the range that a statement of that kind has without a number.
func (k Quantity) stated() Band {
	switch k {
	case Gain, NoLoss:
		return Band{1, math.Inf(1)}
	case NoGain:
		return Band{0, 1}
	case Share:
		return Band{}
	}
	return Band{1, 1}
}

// Judge is what became of a claim of that kind whose number is x where the paper's
// findings are in the band.
func Judge(kind Quantity, accepted Band, x float64) Outcome {
	if math.IsNaN(x) {
		return Unknown
	}
	if accepted.Contains(x) {
		return Holds
	}
	above := x > accepted.High
	switch kind {
	case Alike, Count: // whatever differs differs, in whichever direction
		return Absent
	case NoGain: // a loss is more of the same
		return pick(above, Reversed, Stronger)
	case NoLoss:
		return pick(above, Stronger, Reversed)
	case Crossover: // at shorter vectors it makes more of the claim
		return pick(math.IsInf(x, 1), Absent, pick(above, Weaker, Stronger))
	case Share:
		return pick(above, Stronger, Weaker)
	}
	switch {
	case above:
		return Stronger
	case x > 1+near:
		return Weaker
	case x >= 1-near:
		return Absent
	}
	return Reversed
}

func pick(first bool, a, b Outcome) Outcome {
	if first {
		return a
	}
	return b
}

// Show writes a number of that kind.
func (k Quantity) Show(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case k == Share:
		return fmt.Sprintf("%.0f %%", 100*x)
	case k == Count:
		return fmt.Sprintf("%.12g", x)
	case k == Crossover && math.IsInf(x, 1):
		return "never"
	case k == Crossover:
		return showBytes(x)
	case x >= 100:
		return fmt.Sprintf("%.0fx", x)
	case x >= 10:
		return fmt.Sprintf("%.1fx", x)
	}
	return fmt.Sprintf("%.2fx", x)
}

// ShowBand writes an interval of numbers of that kind.
func (k Quantity) ShowBand(b Band) string {
	switch {
	case b.Low == b.High:
		return k.Show(b.Low)
	case math.IsInf(b.Low, -1) || b.Low == 0:
		return "at most " + k.Show(b.High)
	case math.IsInf(b.High, 1):
		return "at least " + k.Show(b.Low)
	}
	return k.Show(b.Low) + " to " + k.Show(b.High)
}

// showBytes writes a length with a unit.
func showBytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	return fmt.Sprintf("%.3g %s", n, units[i])
}

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

// Judge is what became of a claim of that kind whose number is x where the paper's
// findings are in the band.
func Judge(kind Quantity, accepted Band, x float64) Outcome {
	if math.IsNaN(x) {
		return Unknown
	}
	switch kind {
	case Gain:
		return judgeGain(accepted, x)
	case NoGain:
		return judgeNoGain(accepted, x)
	case Alike, Count:
		return judgeAlike(accepted, x)
	case Crossover:
		return judgeCrossover(accepted, x)
	}
	return judgeShare(accepted, x)
}

func judgeGain(accepted Band, x float64) Outcome {
	switch {
	case accepted.Contains(x):
		return Holds
	case x > accepted.High:
		return Stronger
	case x > 1+near:
		return Weaker
	case x >= 1-near:
		return Absent
	}
	return Reversed
}

// judgeNoGain: a gain where the paper found none is the opposite; a loss where it
// found none is more of the same.
func judgeNoGain(accepted Band, x float64) Outcome {
	switch {
	case accepted.Contains(x):
		return Holds
	case x > accepted.High:
		return Reversed
	}
	return Stronger
}

// judgeAlike: what differs differs, in whichever direction.
func judgeAlike(accepted Band, x float64) Outcome {
	if accepted.Contains(x) {
		return Holds
	}
	return Absent
}

// judgeCrossover: a crossing at shorter vectors makes more of the claim, one at longer
// vectors less, and none at all nothing.
func judgeCrossover(accepted Band, x float64) Outcome {
	switch {
	case accepted.Contains(x):
		return Holds
	case math.IsInf(x, 1):
		return Absent
	case x < accepted.Low:
		return Stronger
	}
	return Weaker
}

func judgeShare(accepted Band, x float64) Outcome {
	switch {
	case accepted.Contains(x):
		return Holds
	case x > accepted.High:
		return Stronger
	}
	return Weaker
}

// Show writes a number of that kind.
func (k Quantity) Show(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case k == Share:
		return fmt.Sprintf("%.0f %%", 100*x)
	case k == Count:
		return fmt.Sprintf("%.6g", x)
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

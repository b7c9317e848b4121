package price

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
)

// Counts are what an algorithm costs on any machine, the coefficients of the
// usual formulas: Table 1 of the paper on pipelined allreduce, and the steps and
// bytes of Gloo's list.
type Counts struct {
	// Steps is the longest chain of messages: the time if each takes a second to get
	// there and all else is free. Rounds is the longest if only puts count; without
	// the credits, it is what papers state.
	Steps, Rounds int
	// Bandwidth is the elements on the busiest path: the time if a port takes an
	// element per second and all else is free.
	Bandwidth float64
	// Arithmetic is the elements folded on the longest path: the time if a rank
	// folds an element per second and all else is free.
	Arithmetic float64

	// Puts and Messages, which are puts and signals, are those of the rank that sends
	// most; the others are elements of the rank that has most of each.
	Puts, Messages                   int
	Sent, Received, Combined, Copied int
	// Total is the elements that all ranks send.
	Total int
}

// Cost counts what an algorithm takes for a call. Ranks share memory if the call
// says that they do, or if it does not say and the algorithm needs it; puts
// within a node then take no bandwidth.
func Cost(c *schedule.Call, emit schedule.Emitter) (Counts, error) {
	p, err := Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) })
	if err != nil {
		return Counts{}, err
	}
	var free Machine
	if len(p.touches) > 0 {
		free.RanksPerNode = c.Size
	}
	res, err := p.Run(&free, Load{})
	if err != nil {
		return Counts{}, err
	}
	k := Counts{Steps: res.Steps, Rounds: res.Rounds}
	for _, r := range res.Ranks {
		k.Sent, k.Received = max(k.Sent, r.Sent), max(k.Received, r.Received)
		k.Puts, k.Messages = max(k.Puts, r.Puts), max(k.Messages, r.Puts+r.Signals)
		k.Combined, k.Copied = max(k.Combined, r.Combined), max(k.Copied, r.Copied)
		k.Total += r.Sent
	}
	wire, fold := free, free
	wire.Bandwidth, fold.ReduceRate = 1, 1
	if k.Bandwidth, err = p.Time(&wire, Load{}); err != nil {
		return Counts{}, err
	}
	k.Arithmetic, err = p.Time(&fold, Load{})
	return k, err
}

// Predict is the makespan, in seconds, of an algorithm for a call on a machine
// under a load.
//
// It builds and simulates the schedules of all ranks if there are at most 32 or if
// they have at most 32,768 steps in all, as logarithmic algorithms of a thousand ranks
// have. What has more is priced for the first 8, 16 and 32 ranks, and the curve
// a+bP+c/P through these is followed to P. That is exact where the cost is such a
// sum, as of rings and direct exchanges, and within a tenth elsewhere, up to 128
// ranks. An algorithm whose steps do not follow such a curve, as one that divides the
// number of ranks into factors, is simulated in full, however long that takes: a
// million steps are about a quarter of a second.
func Predict(m *Machine, c *schedule.Call, emit schedule.Emitter, l Load) (float64, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if err := l.Check(c.Size); err != nil {
		return 0, err
	}
	if c.Size <= fewRanks || schedule.Build(c, 0, emit).Steps()*c.Size <= fewSteps {
		return simulated(m, c, emit, l)
	}
	var size, steps, times [3]float64
	for i, n := range [3]int{fewRanks / 4, fewRanks / 2, fewRanks} {
		size[i] = float64(n)
		steps[i] = float64(schedule.Build(firstRanks(c, n), 0, emit).Steps())
	}
	p := float64(c.Size)
	have, want := float64(schedule.Build(c, 0, emit).Steps()), follow(size, steps, p)
	if have > want*1.05+1 || have < want*0.95-1 {
		return simulated(m, c, emit, l)
	}
	for i := range size {
		var err error
		n := int(size[i])
		if times[i], err = simulated(m, firstRanks(c, n), emit, firstLoad(l, n)); err != nil {
			return 0, err
		}
	}
	return max(0, follow(size, times, p)), nil
}

const (
	fewRanks = 32      // are simulated whatever their steps
	fewSteps = 1 << 15 // a few milliseconds; a choice has tens of candidates
)

func simulated(m *Machine, c *schedule.Call, emit schedule.Emitter, l Load) (float64, error) {
	p, err := Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) })
	if err != nil {
		return 0, err
	}
	return p.Time(m, l)
}

// follow is the value at p of the curve a+bx+c/x through three points: times x, it
// is a parabola.
func follow(x, y [3]float64, p float64) float64 {
	sum := 0.0
	for i := range x {
		term := float64(y[i] * x[i])
		for j := range x {
			if j != i {
				term = float64(term * (p - x[j]) / (x[i] - x[j]))
			}
		}
		sum += term
	}
	return sum / p
}

// firstRanks is the call among the first ranks of it.
func firstRanks(c *schedule.Call, size int) *schedule.Call {
	d := *c
	d.Size, d.Root = size, c.Root%size
	if c.Counts != nil && c.Op == schedule.AllToAll {
		d.Counts = nil
		for r := range size {
			d.Counts = append(d.Counts, c.Counts[r*c.Size:r*c.Size+size]...)
		}
	} else if c.Counts != nil {
		d.Counts = c.Counts[:size]
	}
	if c.Engaged != nil {
		d.Engaged = slices.Clone(c.Engaged[:size])
		d.Engaged[d.Root] = c.Engaged[c.Root]
	}
	if c.Nodes != nil {
		d.Nodes = c.Nodes[:size]
	}
	return &d
}

// firstLoad is the load of the first ranks.
func firstLoad(l Load, size int) Load {
	if l.Arrival != nil {
		l.Arrival = l.Arrival[:size]
	}
	if l.Slowdown != nil {
		l.Slowdown = l.Slowdown[:size]
	}
	return l
}

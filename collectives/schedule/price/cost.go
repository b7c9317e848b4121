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
// It builds and simulates the schedules of all ranks if they have at most a
// quarter of a million steps, as those of up to 64 ranks and the logarithmic ones
// of thousands have. What has more is an algorithm of about as many steps per rank
// as there are ranks. It is then priced for the first 16, 32 and 64 ranks, and the
// curve a+bP+c/P through these is followed to P: that is exact where the cost is
// such a sum, as of rings and direct exchanges, and an estimate elsewhere.
func Predict(m *Machine, c *schedule.Call, emit schedule.Emitter, l Load) (float64, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if err := l.Check(c.Size); err != nil {
		return 0, err
	}
	const few, budget = 64, 1 << 18
	if c.Size <= few || schedule.Build(c, 0, emit).Steps()*c.Size <= budget {
		return simulated(m, c, emit, l)
	}
	var x, y [3]float64
	for i, size := range [3]int{16, 32, few} {
		t, err := simulated(m, firstRanks(c, size), emit, firstLoad(l, size))
		if err != nil {
			return 0, err
		}
		x[i], y[i] = float64(size), float64(size)*t
	}
	p := float64(c.Size)
	return max(0, through(x, y, p)/p), nil
}

func simulated(m *Machine, c *schedule.Call, emit schedule.Emitter, l Load) (float64, error) {
	p, err := Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) })
	if err != nil {
		return 0, err
	}
	return p.Time(m, l)
}

// through is the value at p of the parabola through three points.
func through(x, y [3]float64, p float64) float64 {
	sum := 0.0
	for i := range x {
		term := y[i]
		for j := range x {
			if j != i {
				term = float64(term * (p - x[j]) / (x[i] - x[j]))
			}
		}
		sum += term
	}
	return sum
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

package price

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// A Result is what happened, over all runs of the load.
type Result struct {
	// Makespan is when the last rank has ended, in seconds from time 0.
	Makespan float64
	// Steps is the longest chain of messages, each sent after the one before it
	// had been seen. Rounds is the longest if only puts count: in many algorithms
	// the signals are credits that are sent long before they are needed.
	Steps, Rounds int
	Ranks         []Rank
}

// A Rank is what happened at one rank.
type Rank struct {
	Finish  float64 // seconds from time 0
	Waiting float64 // seconds from arrival to finish in which its CPU did nothing for it

	Steps, Rounds int // of the longest chains that end here

	Puts, Signals  int // sent
	Sent, Received int // bytes of puts
	Combined       int // bytes of operands folded into others
	Copied         int // bytes copied, other than by puts
	Coded          int // bytes, not coded, that were encoded or decoded
}

// Run prices one call: the schedules that build makes, on a machine under a load.
// It fails on a machine, call or load that cannot be, on a combine across nodes, and
// on a rank that waits for what nobody sends, which it names with lane and step.
// The time it takes is proportional to the steps of all ranks.
func Run(m *Machine, c *schedule.Call, build func(rank int) *schedule.Schedule, l Load) (Result, error) {
	p, err := Compile(c, build)
	if err != nil {
		return Result{}, err
	}
	return p.Run(m, l)
}

// Run prices the program on a machine under a load.
func (p *Program) Run(m *Machine, l Load) (Result, error) {
	s, err := p.simulate(m, l, false)
	if err != nil {
		return Result{}, err
	}
	res := Result{Ranks: make([]Rank, p.size)}
	runs, element := s.runs, s.element
	for r := range res.Ranks {
		state, k := &s.ranks[r], p.counts[r]
		k.Finish = state.clock
		k.Waiting = state.clock - at(l.Arrival, r, 0) - state.busy
		k.Steps, k.Rounds = int(state.depth.messages), int(state.depth.data)
		k.Puts, k.Signals = k.Puts*runs, k.Signals*runs+state.credits
		k.Sent, k.Received = k.Sent*runs*element+state.sent, k.Received*runs*element+state.received
		k.Combined, k.Copied, k.Coded = k.Combined*runs*element, k.Copied*runs*element, k.Coded*runs*element
		res.Makespan = max(res.Makespan, k.Finish)
		res.Steps, res.Rounds = max(res.Steps, k.Steps), max(res.Rounds, k.Rounds)
		res.Ranks[r] = k
	}
	return res, nil
}

// Time is the makespan alone.
func (p *Program) Time(m *Machine, l Load) (float64, error) { return p.time(m, l, false) }

// Exposed is the part of the time, from 0 to 1, that would be saved if folding
// were free: the arithmetic that is not hidden behind transfers.
func (p *Program) Exposed(m *Machine, l Load) (float64, error) {
	with, err := p.time(m, l, false)
	if err != nil || with == 0 {
		return 0, err
	}
	without, err := p.time(m, l, true)
	return (with - without) / with, err
}

func (p *Program) time(m *Machine, l Load, freeFold bool) (float64, error) {
	s, err := p.simulate(m, l, freeFold)
	if err != nil {
		return 0, err
	}
	last := 0.0
	for r := range s.ranks {
		last = max(last, s.ranks[r].clock)
	}
	return last, nil
}

// at is element i of all, or what it is if all is nil.
func at(all []float64, i int, otherwise float64) float64 {
	if all == nil {
		return otherwise
	}
	return all[i]
}

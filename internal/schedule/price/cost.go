package price

import "github.com/gaspi-go/gaspi-go/internal/schedule"

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

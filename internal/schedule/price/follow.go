package price

import (
	"math"
	"slices"
)

// early is how long before the last rank of a node the first one has copied all that is copied between the messages
// of two segments.
func (e *estimator) early(stages []Stage) float64 {
	early := 0.0
	for _, g := range stages {
		if g.Peers == 0 && g.Pairs == 0 && e.s.Nodes > 1 && e.s.Most > 1 && !e.shared {
			early += e.ahead(g)
		}
	}
	return min(early, e.unanswered(stages))
}

// unanswered is how long the messages take that the first rank of a node sends before it waits for those of ranks that
// still copy.
func (e *estimator) unanswered(stages []Stage) float64 {
	for i := range stages {
		if g := &stages[i]; g.Peers > 0 && g.Elements > 0 && !g.OneWay {
			t, _, _ := e.stage(g)
			return t / or(g.Times, 1)
		}
	}
	return math.Inf(1)
}

// ahead is how much less local work takes one rank alone, which has all of the memory, than all of a host.
func (e *estimator) ahead(g Stage) float64 {
	all, _, _ := e.stage(&g)
	g.Pairs = 1
	one, _, _ := e.stage(&g)
	return all - one
}

// idle is how long the ports of a node idle in each segment: ranks that copy send nothing, while the ports do what they
// have of the other segments, a message of each rank that sends to other nodes, which began a latency before.
func (e *estimator) idle(p *Profile, w Segments) float64 {
	message, senders := 0.0, 0.0
	for i := range p.Stages {
		g := &p.Stages[i]
		c := e.cost(g)
		if c.wire <= c.far-e.m.Network.Put {
			continue
		}
		_, _, u := e.stage(g)
		each := u.ports / or(g.Times, 1)
		if g.Window > 0 && g.Busy == Arrival { // credits for more come behind the copies
			_, last := c.rounds()
			each *= last / g.Window
		}
		message, senders = max(message, each), max(senders, g.Route.Out)
	}
	if message == 0 { // no message takes the ports longer than the processor
		return 0
	}
	copies := 0.0
	for _, g := range p.Stages {
		if g.Peers > 0 {
			continue
		}
		g.Pairs = min(or(g.Pairs, float64(e.s.Host)), senders)
		t, _, _ := e.stage(&g)
		copies += t
	}
	return max(0, copies-max(0, float64((w.AtOnce-1)*message)-e.m.Network.Latency))
}

// within is how long the ports idle while a root sends to the ranks of its node.
func (e *estimator) within(stages []Stage) float64 {
	within := 0.0
	for i := range stages {
		if c := e.cost(&stages[i]); c.wire > c.far-e.m.Network.Put {
			within += c.nearSends()
		}
	}
	return within
}

// filled is how long the ports idle in the stages of a first segment in which all send, but for the latency of the first
// of them, as far as segments that are under way at the same time leave a port by then.
func (e *estimator) filled(p *Profile, w Segments, use usage) float64 {
	if use.ports < use.most() || w.AtOnce <= 1 {
		return 0
	}
	idle, latency := 0.0, 0.0
	for i := range p.Stages {
		g := &p.Stages[i]
		if t, _, u := e.stage(g); !g.OneWay && u.ports > 0 {
			latency = max(latency, (t-u.ports)/or(g.Times, 1))
			idle += max(0, t-u.ports)
		}
	}
	return max(0, min(idle-latency, float64((w.AtOnce-1)*use.ports)))
}

// period is how much longer two runs take than one.
func (e *estimator) period(p *Profile, w Segments, first float64, use usage) float64 {
	if p.Again == nil {
		if p.Before == nil || p.Before.Busy != Neither || e.shared || e.crosses(p) {
			return first
		}
		return max(first-e.ahead(*p.Before), p.later(first, use)) // others copy while the root is about the run before
	}
	seconds, _ := e.total(p.Again)
	switch {
	case p.Between:
		return max(seconds, e.between(p.Stages, first, use))
	case w.Count > 1:
		return max(seconds, use.most())
	}
	return max(seconds, p.later(first, use))
}

// crosses reports whether messages with data cross the memory of one node, in which the copies of others then save no time.
func (e *estimator) crosses(p *Profile) bool {
	return e.s.Nodes == 1 && slices.ContainsFunc(p.Stages, func(g Stage) bool { return g.Elements > 0 })
}

// later is how much longer two runs take than one because of what a rank does and what ranks share. The second run
// has the memory that the first leaves idle, and the cores if it is a chain, of which one rank works at a time.
func (p *Profile) later(first float64, use usage) float64 {
	cores := use.cores
	if slices.ContainsFunc(p.Stages, func(g Stage) bool { return g.Share > 0 }) {
		cores = 2*cores - first
	}
	return max(use.rank, use.ports, cores, 2*use.memory-first)
}

// between is how much longer two runs take than one, of which the second goes on while a stage of the first waits
// for messages. A stage takes in those of the second behind those of the first, with no latency in between. A
// rank folds and sends in the order of runs, so that one that sends in a stage has folded what came in the
// stages before. And both runs together occupy what ranks share.
func (e *estimator) between(stages []Stage, first float64, use usage) float64 {
	both, later, folded := 2*max(use.cores, use.ports, use.memory)-first, 0.0, 0.0
	for i := range stages {
		busiest := stages[i] // the node that has most of this stage's messages, whatever it has of others
		busiest.Route.Spare = 0
		_, _, u := e.stage(&busiest)
		later = max(later, u.most(), folded+e.sending(&stages[i]))
		folded += u.rank
		if sooner := stages[i].Sooner; sooner != nil { // the run ends with what those send, long after others have begun the next
			t, _, _ := e.stage(&stages[i])
			_, _, theirs := e.stage(sooner)
			ahead := max(0, e.longer(stages, i)-t)
			both = max(both, theirs.most(), theirs.rank+e.sending(&stages[i]))
			later, folded = max(later, use.ports, use.rank)-ahead, folded-ahead
		}
	}
	return max(both, later, folded)
}

// sending is how long a rank is about the messages of a stage until their sources are free.
func (e *estimator) sending(g *Stage) float64 {
	c := e.cost(g)
	c.far = max(c.far, e.m.Network.Put+c.wire)
	return float64(c.sends(g.Route.Most))
}

package price

import (
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A Formula returns what an algorithm does for a call, stage by stage, in O(log P) time:
// Estimate makes seconds of it.
type Formula func(s *Topology, c *schedule.Call) Profile

// A Profile is what an algorithm does for a call: its stages, each of which begins when the one
// before has ended.
type Profile struct {
	Stages  []Stage
	Scratch float64 // elements of a rank's own memory
	Flip    float64 // the same that is there twice, and for each segment

	// Elements and slots of a copy of eager memory.
	Eager, EagerSlots float64

	// Again is what separates two runs of which one may begin before the other has ended
	// everywhere: the stages of the rank, or of the loop of messages and credits, that takes
	// longest. Nil means that a run begins when the last has ended.
	Again []Stage
	// Before is the copies to where messages are sent from; nil if there are none.
	Before *Stage
	// Between says that the same stage of the next run goes on in what is shared while a stage waits.
	Between bool
	// Spread says that ranks begin and end one after the other: they copy before the first stage while others are in it, and
	// behind the last while others still wait.
	Spread bool
}

// A Stage is messages from ranks to ranks and what is done with what has arrived.
type Stage struct {
	Times  float64 // how often it is done, one after the other; 0 means once
	Pairs  float64 // ranks of one host that send; 0 means all
	OneWay bool    // who sends does not receive
	Others bool    // the root, which has other stages to itself, has no part in it
	Beside bool    // who exchanges something has consecutive numbers
	Passes bool    // a rank only passes on what comes from the one before it
	Share  float64 // part of it that one rank does; 0 means all
	Spared bool    // it is a copy of what is sent, which is not made where vectors lie in segments
	// Elsewhere says that what it occupies is counted in another stage.
	Elsewhere bool
	Only      Half // what of it is on the longest path
	// Meanwhile is how many stages before it others are in while this one is sent, or behind it if less than 0:
	// all of it is on the longest path that takes longer than these.
	Meanwhile int
	// Sooner is the stage before it as those take it who send this one, if they are through sooner than others. Then Meanwhile is 1.
	Sooner *Stage
	Busy   Half // what of it the rank does that has most to do, if it is OneWay
	// Late says that what arrives queues for the ports behind what the stage before has brought.
	Late  bool
	Lanes float64 // so many are under way at a time, each with all of this; 0 means 1

	Route      Route
	Peers      float64 // a rank sends to as many
	From       float64 // and waits for as many; 0 means Peers
	Elements   float64 // of each message; 0 means that it is a signal
	Apart      bool    // the post of a message is a signal of its own
	Flushed    bool    // the sender goes on when its messages have left
	Compressed bool    // messages are coded forms
	// Window is how many messages to a rank are under way before it answers, from one other, or from all where Busy is
	// Arrival; 0 means all.
	Window  float64
	Credits float64 // signals that are there before they are needed
	Returns float64 // credits for eager memory, once in a batch of runs

	Fold  Local   // with what has arrived
	Copy  Local   // as well
	Coded float64 // elements encoded or decoded
	Codes float64 // in so many steps
	Turns float64 // how often a rank gives its core away; 0 means once, but for the last of those that exchange something; less than 0 never
}

// A Half is a part of a stage.
type Half uint8

// The parts of a stage.
const (
	Both    Half = iota
	Arrival      // waits and folds: messages were sent long before
	Leaving      // sends: receivers are not waited for
	Neither      // other stages take longer meanwhile
)

// A Local is combines, all alike, in a rank's memory.
type Local struct {
	Times    float64 // 0 means once
	Elements float64
	Sources  float64 // 1 is a copy
	Stores   float64 // 0 means 1
	Scratch  float64 // how many of the sources and stores are scratch,
	Flip     float64 // and how many lie in Flip
}

// Rounds is how many stages are done one after the other.
func (p Profile) Rounds() float64 {
	rounds := 0.0
	for i := range p.Stages {
		rounds += or(p.Stages[i].Times, 1)
	}
	return rounds
}

// Steps is about how many steps a rank takes, by which the time of a simulation is bounded.
func (p Profile) Steps() float64 {
	steps := 0.0
	for i := range p.Stages {
		g := &p.Stages[i]
		messages := g.Peers + or(g.From, g.Peers) + 2*g.Credits
		if g.Apart {
			messages += g.Peers
		}
		local := g.Codes
		for _, l := range [2]Local{g.Fold, g.Copy} {
			if l.Elements > 0 {
				local += or(l.Times, 1) * max(1, (l.Sources+l.Stores)/4) // regions take time too
			}
		}
		steps += or(g.Times, 1) * or(g.Lanes, 1) * or(g.Share, 1) * (messages + local)
	}
	return steps
}

// Memory returns the bytes that a rank holds beside its vectors.
func (p *Profile) Memory(s *Topology, w Segments) float64 {
	sets := p.atOnce(w)
	own := p.Scratch + 2*p.Flip + float64(float64(p.depth(s, w).Copies)*p.Eager)
	return own * sets * w.Element
}

// atOnce returns how many segments have memory of their own: all, if anything of a call lies in flip or eager memory.
func (p *Profile) atOnce(w Segments) float64 {
	if p.Flip > 0 || p.EagerSlots > 0 {
		return math.Ceil(w.Count)
	}
	return w.AtOnce
}

// depth returns how many copies of eager memory there are.
func (p *Profile) depth(s *Topology, w Segments) schedule.Depth {
	sets := p.atOnce(w)
	return schedule.DepthOf(int(p.EagerSlots*sets), int(p.Eager*sets*w.Element), schedule.EagerSlots, schedule.EagerBytes(s.Nodes == 1))
}

// returned is the stages with the credits of the mean of two runs.
func (p *Profile) returned(s *Topology, w Segments) []Stage {
	part := 0.0
	for run, depth := 0, p.depth(s, w); run < 2; run++ {
		if depth.Credits(run) {
			part += 0.5
		}
	}
	stages := slices.Clone(p.Stages)
	for i := range stages {
		stages[i].Credits += float64(part * stages[i].Returns)
	}
	return stages
}

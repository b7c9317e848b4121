package price

import "slices"

// Staged is the profile that schedule.Stage or StageIn makes of an algorithm for a call: ranks
// copy before the first stage and behind the last, all of them or only some.
func (p Profile) Staged(before, behind Copies) Profile {
	stages := make([]Stage, 0, len(p.Stages)+2)
	if before.Elements > 0 {
		stages = append(stages, before.stage())
		p.Before = &stages[0]
		if p.Spread {
			p.Before.Only = Leaving
		}
	}
	for _, g := range p.Stages {
		g.Fold.Scratch = g.Fold.Sources + or(g.Fold.Stores, 1) - g.Fold.Flip
		g.Copy.Scratch = g.Copy.Sources + or(g.Copy.Stores, 1) - g.Copy.Flip
		stages = append(stages, g)
	}
	if behind.Elements > 0 {
		g := behind.stage()
		if p.Spread {
			g.Only = Arrival
		}
		stages = append(stages, g)
	}
	p.Stages, p.Scratch = stages, p.Scratch+before.Elements
	if !behind.There {
		p.Scratch += behind.Elements
	}
	return p
}

// Copies are copies of ranks, of a vector each, or folds of several.
type Copies struct {
	Elements float64
	Vectors  float64 // that are folded, if there are several
	Ranks    float64 // of a host; 0 means all
	Idle     bool    // they have less to do than others
	There    bool    // they are from where those before the first stage are to
}

func (c Copies) stage() Stage {
	g := Stage{Pairs: c.Ranks, OneWay: true, Turns: -1}
	if local := (Local{Elements: c.Elements, Sources: max(1, c.Vectors), Scratch: 1}); c.Vectors > 1 {
		g.Fold = local
	} else {
		g.Copy = local
	}
	if c.Idle {
		g.Busy = Neither
	}
	return g
}

// InSegments is the profile where the vectors of ranks lie in segments.
func (p Profile) InSegments() Profile {
	p.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(g Stage) bool { return g.Spared })
	return p
}

// Fanned is the profile that schedule.Fan makes of an algorithm for so many local vectors of n
// elements.
func (p Profile) Fanned(vectors, n float64) Profile {
	fold := Stage{Fold: Local{Elements: n, Sources: vectors}, Turns: -1}
	spread := Stage{Copy: Local{Elements: n, Sources: 1, Stores: vectors - 1}, Turns: -1}
	p.Stages = slices.Concat([]Stage{fold}, p.Stages, []Stage{spread})
	return p
}

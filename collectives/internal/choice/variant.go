package choice

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A Variant is one way to do a call: an algorithm with its parameters.
type Variant struct {
	Algorithm algorithms.Algorithm
	Segments  schedule.Segmentation
	Radix     int // 0: that of the algorithm
	staging   staging
	vectors   int // of each rank
}

// staging is what is done about buffers that peers cannot reach.
type staging uint8

const (
	inPlace  staging = iota // nothing: peers can, or need not
	stageIn                 // In is copied to scratch, or several local vectors are folded there
	stageAll                // so is In, and Out comes from there
)

// stagingFor is what an algorithm needs for plain slices.
func stagingFor(c *Signature, a algorithms.Algorithm) staging {
	switch {
	case !c.Plain || a.Plain || c.Op == schedule.Barrier:
		if c.Op == schedule.ReduceScatter && c.Extra > 0 {
			return stageIn
		}
		return inPlace
	case a.Pulls && !(c.Op == schedule.ReduceScatter && c.SomeBlockEmpty()): // where Out may be part of In
		return stageIn
	}
	return stageAll
}

// staged is how many local vectors of a rank are folded where In is staged: all of a
// reduce-scatter, which leaves them as they are.
func (v *Variant) staged() int {
	if v.Algorithm.Op == schedule.ReduceScatter {
		return max(1, v.vectors)
	}
	return 1
}

// fits returns why an algorithm cannot do a call, or nil.
func (v *Variant) fits(call *schedule.Call) error {
	if v.Algorithm.Fits == nil {
		return nil
	}
	inner := *call
	switch v.staging {
	case stageIn:
		inner.InPlace = call.InPlace && call.Op != schedule.AllToAll && v.staged() == 1
	case stageAll:
		inner.InPlace = call.Op == schedule.Broadcast
	}
	inner.Radix = v.Radix
	return v.Algorithm.Fits(&inner)
}

// cuts is how many segments are under way at a time, 0 if there is one segment.
func (v Variant) cuts() int {
	if v.Segments.Size == 0 && v.Segments.Concurrency <= 1 {
		return 0
	}
	return max(1, v.Segments.Concurrency)
}

// Emitter is the algorithm with all that is done around it.
func (v Variant) Emitter() schedule.Emitter {
	if v.cuts() == 0 {
		return v.uncut()
	}
	return schedule.Pipeline(v.Segments, v.uncut())
}

// uncut is Emitter for a single segment.
func (v Variant) uncut() schedule.Emitter {
	emit, staged := v.Algorithm.Emit, v.staged()
	switch v.staging {
	case stageIn:
		emit = schedule.StageIn(staged, emit)
	case stageAll:
		emit = schedule.Stage(staged, emit)
	}
	if v.vectors > staged {
		emit = schedule.Fan(v.vectors, emit)
	}
	return emit
}

// String is the variant as the option Algorithm and GASPI_COLL take it: "ring/4096x4" is
// segments of 4096 elements, four at a time, and "ringx1" a single one where others
// were possible.
func (v Variant) String() string {
	s := v.Algorithm.Name
	if v.Segments.Size > 0 {
		s += fmt.Sprintf("/%d", v.Segments.Size)
	}
	if k := v.Segments.Concurrency; k > 1 || k == 1 && v.Segments.Size == 0 {
		s += fmt.Sprintf("x%d", k)
	}
	if v.Radix > 0 {
		s += fmt.Sprintf("%s%d", radixIs, v.Radix)
	}
	if v.staging != inPlace {
		s += isStaged
	}
	return s
}

// Suffixes of the name of a variant, after the segments.
const (
	radixIs  = " radix "
	isStaged = " staged"
)

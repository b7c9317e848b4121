package collectives

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A choice is how a call is done.
type choice struct {
	algorithm algorithms.Algorithm
	segments  schedule.Segmentation
	radix     int
	staging   staging
	vectors   int // of each rank
}

// staging is what is done about buffers that peers cannot reach.
type staging uint8

const (
	inPlace  staging = iota // nothing: peers can, or need not
	stageIn                 // In is copied to scratch
	stageAll                // In is copied to scratch and Out comes from there
)

// stagingFor is what an algorithm needs for plain slices.
func stagingFor(p *Plan, a algorithms.Algorithm) staging {
	switch {
	case !p.plain() || a.Plain || p.call.Op == schedule.Barrier:
		return inPlace
	case a.Pulls && !(p.call.Op == schedule.ReduceScatter && p.task.someBlockEmpty()): // where Out may be part of In
		return stageIn
	}
	return stageAll
}

// cuts is how many segments are under way at a time, 0 if there is one segment.
func (c choice) cuts() int {
	if c.segments.Size == 0 && c.segments.Concurrency <= 1 {
		return 0
	}
	return max(1, c.segments.Concurrency)
}

// emitter is the algorithm with all that is done around it.
func (c choice) emitter() schedule.Emitter {
	if c.cuts() == 0 {
		return c.uncut()
	}
	return schedule.Pipeline(c.segments, c.uncut())
}

// uncut is emitter for a single segment.
func (c choice) uncut() schedule.Emitter {
	emit := c.algorithm.Emit
	switch c.staging {
	case stageIn:
		emit = schedule.StageIn(emit)
	case stageAll:
		emit = schedule.Stage(emit)
	}
	if c.vectors > 1 {
		emit = schedule.Fan(c.vectors, emit)
	}
	return emit
}

// String is the choice as the option Algorithm and GASPI_COLL take it: "ring/4096x4" is
// segments of 4096 elements, four at a time, and "ringx1" a single one where others
// were possible.
func (c choice) String() string {
	s := c.algorithm.Name
	if c.segments.Size > 0 {
		s += fmt.Sprintf("/%d", c.segments.Size)
	}
	if k := c.segments.Concurrency; k > 1 || k == 1 && c.segments.Size == 0 {
		s += fmt.Sprintf("x%d", k)
	}
	if c.radix > 0 {
		s += fmt.Sprintf("%s%d", radixIs, c.radix)
	}
	if c.staging != inPlace {
		s += isStaged
	}
	return s
}

// Suffixes of the name of a choice, after the segments.
const (
	radixIs  = " radix "
	isStaged = " staged"
)

// parseAlgorithm reads what choice.String writes: "ring", "ring/4096", "ringx4",
// "ring/4096x4", "bcube radix 4", "ringx4 staged". Whether a call is staged follows from
// where its buffers lie, and from nothing else.
func parseAlgorithm(text string) (tuning, error) {
	var want tuning
	var err error
	rest, radix, hasRadix := strings.Cut(strings.TrimSuffix(text, isStaged), radixIs)
	if hasRadix {
		if want.radix, err = parseNumber(radix); err != nil {
			return want, err
		}
	}
	rest, size, hasSize := strings.Cut(rest, "/")
	tail := &rest
	if hasSize {
		tail = &size
	}
	if i := strings.LastIndexByte(*tail, 'x'); i >= 0 && i+1 < len(*tail) && (*tail)[i+1] >= '0' && (*tail)[i+1] <= '9' {
		if want.concurrency, err = parseNumber((*tail)[i+1:]); err != nil {
			return want, err
		}
		*tail = (*tail)[:i]
	}
	if hasSize {
		if want.segmentSize, err = parseNumber(size); err != nil {
			return want, err
		}
	}
	want.algorithm = rest
	return want, nil
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of elements, segments or partners", s)
	}
	return n, nil
}

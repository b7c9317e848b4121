package collectives

import (
	"math"

	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A Status says how much of an eventually consistent operation was done.
type Status struct {
	// Elements is how many elements, from the first on, were sent and combined;
	// all others of every buffer are as they were. Of is the length of the vector.
	Elements, Of int

	size    int
	engaged []bool
}

// Fraction is the part of the vector that was delivered, from 0 to 1.
func (s Status) Fraction() float64 {
	if s.Of == 0 {
		return 1
	}
	return float64(s.Elements) / float64(s.Of)
}

// Ranks are the members whose contributions are in the result, by their number in
// the team, ascending. The caller owns the slice.
func (s Status) Ranks() []int {
	var ranks []int
	for r := range s.size {
		if s.engaged == nil || s.engaged[r] {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// kept is how many of n elements a threshold keeps: ceil(fraction x n).
func kept(n int, fraction float64) int {
	if fraction == 0 {
		return n
	}
	return min(n, int(math.Ceil(fraction*float64(n))))
}

// limit applies the thresholds of a task's options to it, once.
func (t *Team) limit(task *Task) {
	if task.limited {
		return
	}
	task.limited, task.of = true, task.call.Count
	task.call.Count = kept(task.of, task.call.Options.Threshold)
	if f := task.call.Options.Engaged; f > 0 && task.call.Root >= 0 && task.call.Root < t.Size() {
		task.call.Engaged = algorithms.Engage(t.Size(), task.call.Root, f)
	}
}

// statusOf is the status of the calls of a plan, nothing if there is none.
func (t *Team) statusOf(p *Plan) Status {
	if p == nil {
		return Status{}
	}
	return t.status(&p.task)
}

// status is what a task does, once limit was applied.
func (t *Team) status(task *Task) Status {
	return Status{Elements: task.call.Count, Of: task.of, size: t.Size(), engaged: task.call.Engaged}
}

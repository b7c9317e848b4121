package collectives

import (
	"cmp"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A Candidate is one way to do a call and what the model says of it.
type Candidate struct {
	Algorithm string  // with segments, as in "ring/4096x4": the option Algorithm takes it
	Seconds   float64 // predicted
	Chosen    bool
}

// Explain returns the candidates for a task, the fastest first, and what the task's options demand,
// if that is another way. The team chooses, of those that take at most 1 % longer than the fastest,
// the one that cuts the vector into the fewest segments. Explain is local, begins nothing, and
// changes no choice.
func Explain(t *Team, task Task) ([]Candidate, error) {
	if !t.engine.Enter() {
		return nil, refused("explain " + task.String())
	}
	defer t.engine.Leave()
	if task.err != nil {
		return nil, t.failed(&task, task.err)
	}
	if err := task.check(t); err != nil {
		return nil, t.failed(&task, err)
	}
	t.limit(&task)
	p := t.draft(&task, task.key(t))
	if p.call.Op != schedule.Barrier && p.call.Count == 0 && p.call.Counts == nil {
		p.call.Count = 1
	}
	variants, err := t.chooser.Explain(&p.call)
	if err != nil {
		return nil, t.failed(&task, err)
	}
	var all []Candidate
	for _, v := range variants {
		all = append(all, Candidate{v.Variant.String(), v.Seconds, v.Chosen})
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return all, nil
}

package price

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Predict is the makespan, in seconds, of an algorithm for a call on a machine
// under a load.
//
// It builds and simulates the schedules of all ranks if there are at most 32 or if
// they have at most 32,768 steps in all, as logarithmic algorithms of a thousand ranks
// have. A larger schedule is priced for the first 8, 16 and 32 ranks, and the curve a+bP+c/P
// through these prices is followed to P. That is exact where the cost is such a sum, as of
// rings and direct exchanges, and mostly within a tenth elsewhere, up to 128 ranks. An algorithm whose
// steps do not follow such a curve, as one that divides the number of ranks into factors, is
// simulated in full, and so are nodes and hosts of more than 8 ranks, however long that takes: a million
// steps are about a quarter of a second.
func Predict(m *Machine, c *schedule.Call, emit schedule.Emitter, l Load) (float64, error) {
	return PredictSegments(m, c, schedule.Segmentation{}, emit, l)
}

// PredictSegments is Predict of an algorithm that schedule.Pipeline cuts into
// segments. Of many segments of fixed size, only as many are simulated as it takes
// to see what each further one adds: exact where segments follow each other evenly,
// and within a tenth elsewhere.
func PredictSegments(m *Machine, c *schedule.Call, how schedule.Segmentation, emit schedule.Emitter, l Load) (float64, error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	if err := l.Check(c.Size); err != nil {
		return 0, err
	}
	q := question{m: m, call: c, load: l, emit: emit}
	if how != (schedule.Segmentation{}) {
		q.emit = schedule.Pipeline(how, emit)
	}
	longest := c.Longest()
	// Segments that are under way together are not equal, since some start first;
	// that has evened out after a few turns. Where an algorithm uses Flip, all segments
	// are under way at a time, whatever was asked for.
	few := max(8, 4*how.Concurrency)
	if how.Size == 0 || longest <= 3*few*how.Size {
		return q.ranks(c)
	}
	start, err := q.ranks(shorter(c, few*how.Size, longest))
	if err != nil {
		return 0, err
	}
	later, err := q.ranks(shorter(c, 2*few*how.Size, longest))
	each := max(0, (later-start)/float64(few)) // short blocks are empty in shorter calls, so that the line may fall
	return later + float64(each*(float64(longest)/float64(how.Size)-float64(2*few))), err
}

const (
	fewRanks = 32      // are simulated whatever their steps
	fewSteps = 1 << 15 // a few milliseconds; a choice has tens of candidates
)

// A question is what Predict is asked.
type question struct {
	m    *Machine
	call *schedule.Call
	load Load
	emit schedule.Emitter

	maker schedule.Maker     // of schedules, each of which is read before the next one is made
	built *schedule.Schedule // the last one, nil before the first
}

// build is the schedule of a rank for c, whole until the next one is built.
func (q *question) build(c *schedule.Call, rank int) *schedule.Schedule {
	if q.built != nil {
		q.maker.Free(q.built)
	}
	q.built = q.maker.Build(c, rank, q.emit)
	return q.built
}

// ranks is the makespan of c, which is the call or a shorter one, among all ranks.
func (q *question) ranks(c *schedule.Call) (float64, error) {
	steps := 0.0
	if c.Size > fewRanks {
		steps = q.steps(c)
	}
	if steps*float64(c.Size*max(q.load.Runs, 1)) <= fewSteps {
		return q.simulate(c, q.load)
	}
	var size, have, times [3]float64
	for i, n := range [3]int{fewRanks / 4, fewRanks / 2, fewRanks} {
		size[i], have[i] = float64(n), q.steps(firstRanks(c, n))
	}
	p := float64(c.Size)
	if want := follow(size, have, p); steps > want*1.05+1 || steps < want*0.95-1 || !q.even() {
		return q.simulate(c, q.load)
	}
	for i := range size {
		var err error
		n := int(size[i])
		if times[i], err = q.simulate(firstRanks(c, n), firstLoad(q.load, n)); err != nil {
			return 0, err
		}
	}
	return max(0, follow(size, times, p)), nil
}

// steps is how many steps rank 0 takes.
func (q *question) steps(c *schedule.Call) float64 {
	return float64(q.build(c, 0).Steps())
}

// even reports whether nodes and hosts are as full for few ranks as for all. If they are not,
// what ranks share is what they wait for, and there are P times as many of them.
func (q *question) even() bool {
	few, all := fewRanks/4, q.call.Size
	return q.onNode(few) == q.onNode(all) && likeFirst(q.load.Hosts, few) == likeFirst(q.load.Hosts, all)
}

// onNode is how many of the first ranks are where rank 0 is.
func (q *question) onNode(size int) int {
	if q.call.Nodes == nil {
		return min(size, max(q.m.RanksPerNode, 1))
	}
	return likeFirst(q.call.Nodes, size)
}

// likeFirst is how many of the first so many places are the first one; there may be no places.
func likeFirst(places []int, size int) (count int) {
	for _, n := range places[:min(size, len(places))] {
		if n == places[0] {
			count++
		}
	}
	return count
}

// simulate is the makespan of c, which may be shorter and of fewer ranks than the
// call but finds the caches as full.
func (q *question) simulate(c *schedule.Call, l Load) (float64, error) {
	p, err := Compile(c, func(r int) *schedule.Schedule { return q.build(c, r) })
	if err != nil {
		return 0, err
	}
	for r := range p.memory {
		p.memory[r] += vectors(q.call, r) - vectors(c, r)
	}
	return p.Time(q.m, l)
}

// follow is the value at p of the curve a+bx+c/x through three points: times x, it
// is a parabola.
func follow(x, y [3]float64, p float64) float64 {
	sum := 0.0
	for i := range x {
		term := float64(y[i] * x[i])
		for j := range x {
			if j != i {
				term = float64(term * (p - x[j]) / (x[i] - x[j]))
			}
		}
		sum += term
	}
	return sum / p
}

// shorter is the call on shorter vectors, as n is to longest.
func shorter(c *schedule.Call, n, longest int) *schedule.Call {
	d := *c
	if c.Counts == nil {
		d.Count = n
		return &d
	}
	d.Counts = slices.Clone(c.Counts)
	for i, k := range d.Counts {
		d.Counts[i] = int(int64(k) * int64(n) / int64(longest))
	}
	return &d
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
	if l.Hosts != nil {
		l.Hosts = l.Hosts[:size]
	}
	return l
}

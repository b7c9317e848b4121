package collectives

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A Candidate is one way to do a call and what the model says of it.
type Candidate struct {
	Algorithm string  // with segments, as in "ring/4096x4": the option Algorithm takes it
	Seconds   float64 // predicted
	Chosen    bool
}

// Explain returns the candidates for a task, the fastest first, as the team would
// choose among them, and what the task's options demand, if that is another way. It is
// local, begins nothing, and changes no choice.
func Explain(t *Team, task Task) ([]Candidate, error) {
	if !t.enter() {
		return nil, refused("explain " + task.String())
	}
	defer t.leave()
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
	chosen, err := t.choose(p)
	if err != nil {
		return nil, t.failed(&task, err)
	}
	q := p.question()
	call := q.call(p)
	ways := t.candidates(p, &call, tuning{})
	if !slices.ContainsFunc(ways, func(c choice) bool { return c.String() == chosen.String() }) {
		ways = append(ways, chosen)
	}
	var all []Candidate
	for _, c := range ways {
		seconds, err := t.predict(&p.call, p.task.elem.size, c)
		if err == nil {
			all = append(all, Candidate{c.String(), seconds, c.String() == chosen.String()})
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return all, nil
}

// A question is what choices depend on beside the team: calls that are alike in
// it are done alike. All members ask the same: nothing in it is of one member.
type question struct {
	op            schedule.Operation
	ordered       bool
	plain         bool
	inPlace       bool
	engaged       bool
	size, vectors int
	class         int // of the length
	tuning        tuning
}

func (p *Plan) question() question {
	return question{
		op: p.call.Op, ordered: p.task.order, plain: p.plain(), inPlace: p.call.InPlace, engaged: p.call.Engaged != nil,
		size: p.task.elem.size, vectors: 1 + len(p.task.extra), class: class(p.call.Count), tuning: p.key.tuning,
	}
}

// call is the call that is priced in place of p's: of the length of the class, and
// with root 0. So the answer depends on the question alone, and not on the calls that
// a member has made or explained before. Blocks of different lengths have no class: all
// members know all of them, and each such call is priced as it is.
func (q *question) call(p *Plan) schedule.Call {
	call := p.call
	if call.Counts != nil {
		return call
	}
	call.Count, call.Root = q.class, 0
	if call.Engaged != nil {
		call.Engaged = algorithms.Engage(call.Size, 0, q.tuning.engaged)
	}
	return call
}

// choose finds the way to do a call that takes least time by the model. It depends
// on what all members know alike.
func (t *Team) choose(p *Plan) (choice, error) {
	q := p.question()
	if c, ok := t.chosen[q]; ok && p.call.Counts == nil && fits(c, &p.call) == nil {
		return c, nil
	}
	want, call := t.wanted(p), q.call(p)
	all := t.candidates(p, &call, want)
	if len(all) == 0 {
		return choice{}, t.whyNone(p, want)
	}
	best := all[0]
	if len(all) > 1 {
		best = t.quickest(all, &call, q.size)
	}
	if p.call.Counts == nil {
		t.chosen[q] = best
	}
	return best, nil
}

// aboutEqual is how much longer a way may take by the model than the quickest and
// still be as good: the model is not that exact.
const aboutEqual = 1.01

// quickest is the way that takes least time by the model; of those about equal the
// one with the fewest segments, whose messages cost what the model does not know, and
// of those the first.
func (t *Team) quickest(all []choice, call *schedule.Call, size int) choice {
	seconds, least := make([]float64, len(all)), math.Inf(1)
	for i, c := range all {
		var err error
		if seconds[i], err = t.predict(call, size, c); err != nil {
			seconds[i] = math.Inf(1)
		}
		least = min(least, seconds[i])
	}
	best := -1
	for i, c := range all {
		if seconds[i] <= least*aboutEqual && (best < 0 || c.cuts() < all[best].cuts()) {
			best = i
		}
	}
	return all[best]
}

// class is a length that stands for all that are about as long: the three highest
// bits of n.
func class(n int) int {
	low := 0
	for n>>low >= 8 {
		low++
	}
	return n >> low << low
}

// wanted is what the call's options, or else the team's configuration, demand.
func (t *Team) wanted(p *Plan) tuning {
	want := p.key.tuning
	if want.algorithm == "" {
		if forced, ok := t.forced[p.call.Op]; ok {
			want.algorithm = forced.algorithm
			if want.segmentSize == 0 && want.concurrency == 0 {
				want.segmentSize, want.concurrency = forced.segmentSize, forced.concurrency
			}
			want.radix = cmp.Or(want.radix, forced.radix)
		}
	}
	return want
}

// candidates are the ways to do a call that the members' memory, the operation
// and what is wanted allow, in a fixed order; call is what is priced. Those that share memory come first: of
// equals by the model they have fewer steps in the queue between.
func (t *Team) candidates(p *Plan, call *schedule.Call, want tuning) []choice {
	var all []choice
	for _, a := range algorithms.For(p.call.Op) {
		if want.algorithm != a.Name && (want.algorithm != "" || a.Differs) || t.refuses(p, a) != nil {
			continue
		}
		c := choice{algorithm: a, radix: want.radix, staging: stagingFor(p, a), vectors: 1 + len(p.task.extra)}
		for _, c.segments = range t.segmentations(p, call, a, want) {
			if fits(c, &p.call) == nil {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func rank(c choice) int {
	if c.algorithm.Shares {
		return 0
	}
	return 1
}

// refuses returns why a team cannot use an algorithm for a call, or nil.
func (t *Team) refuses(p *Plan, a algorithms.Algorithm) error {
	switch {
	case a.Shares && !t.one && !a.Hosts:
		return fmt.Errorf("%w: %s is for ranks that share memory", gaspi.ErrNotSupported, a.Name)
	case p.task.order && !a.Ordered:
		return fmt.Errorf("%w: %s does not keep the order of ranks, which the operation needs", gaspi.ErrNotSupported, a.Name)
	case a.Coded && p.task.tuning.compress.None():
		return fmt.Errorf("%w: %s is for calls with the option Compress", gaspi.ErrNotSupported, a.Name)
	case !a.Coded && !p.task.tuning.compress.None():
		return fmt.Errorf("%w: %s does not compress, which the option Compress asks for", gaspi.ErrNotSupported, a.Name)
	}
	return nil
}

// fits returns why an algorithm cannot do a call, or nil.
func fits(c choice, call *schedule.Call) error {
	if c.algorithm.Fits == nil {
		return nil
	}
	inner := *call
	switch c.staging {
	case stageIn:
		inner.InPlace = call.InPlace && call.Op != schedule.AllToAll
	case stageAll:
		inner.InPlace = call.Op == schedule.Broadcast
	}
	inner.Radix = c.radix
	return c.algorithm.Fits(&inner)
}

// whyNone says why there is no candidate.
func (t *Team) whyNone(p *Plan, want tuning) error {
	if want.algorithm == "" {
		return fmt.Errorf("%w: no algorithm of %v can do this call", gaspi.ErrNotSupported, p.call.Op)
	}
	a, err := algorithms.Lookup(p.call.Op, want.algorithm)
	if err != nil {
		return fmt.Errorf("%w: %w", gaspi.ErrNotSupported, err)
	}
	if err := t.refuses(p, a); err != nil {
		return err
	}
	return fits(choice{algorithm: a, radix: want.radix, staging: stagingFor(p, a)}, &p.call)
}

// Bytes of segments of plain slices. Shorter ones wait for each other more often
// than their copies stay nearer; longer ones leave the second-level cache, which
// the model does not know: with 4 ranks on 2 cores, 1 MiB took 0.45 ms in segments of
// 128 KiB, 1.1 ms in segments of 32 KiB and 0.8 ms in segments of 512 KiB. Two long
// ones at a time gain 1 % by the model, and lost up to 20 % there.
const (
	segmentShort = 64 << 10
	segmentLong  = 128 << 10
)

// segmentNear is the bytes of segments of vectors in segments that go over sockets: what
// was received is folded and sent on while it is in the cache. Over loopback, 8 MiB took,
// by a ring and by halving, 4.2 ms with 2 ranks instead of 5.8 in one piece, and 13.4 ms
// instead of 20 with 4. Two at a time, so that one is sent while the other is received,
// made broadcasts of 8 and 64 MiB a tenth faster, and a reduction of 8 MiB with 4 ranks
// 11 ms instead of 16.
const segmentNear = 512 << 10

// segmentations are the ways to cut a call that are worth a look. Each block is cut
// on its own, so the longest decides: of blocks of 1 MiB and of nothing it is worth as much
// as of blocks of 1 MiB alone.
func (t *Team) segmentations(p *Plan, call *schedule.Call, a algorithms.Algorithm, want tuning) []schedule.Segmentation {
	if want.segmentSize > 0 || want.concurrency > 0 {
		return []schedule.Segmentation{{Size: want.segmentSize, Concurrency: want.concurrency}}
	}
	bytes := call.Longest() * p.task.elem.size
	if a.Whole || bytes <= segmentLong || a.Shares && !p.plain() {
		return []schedule.Segmentation{{}}
	}
	if p.plain() {
		short, long := max(1, segmentShort/p.task.elem.size), max(1, segmentLong/p.task.elem.size)
		return []schedule.Segmentation{{Size: long, Concurrency: 1}, {Size: short, Concurrency: 2}}
	}
	whole := []schedule.Segmentation{{Concurrency: 1}} // which its name says, since there are others
	if bytes >= 2*segmentNear {
		near := max(1, segmentNear/p.task.elem.size)
		whole = append(whole, schedule.Segmentation{Size: near, Concurrency: 1}, schedule.Segmentation{Size: near, Concurrency: 2})
	}
	return append(whole, schedule.Segmentation{Concurrency: 2}, schedule.Segmentation{Concurrency: 4}, schedule.Segmentation{Concurrency: 8})
}

// predict is what the model says of a way to do a call, in seconds: half of what two
// runs take, one of which may begin before the other has ended everywhere.
func (t *Team) predict(call *schedule.Call, size int, c choice) (float64, error) {
	with := *call
	with.Radix = c.radix
	load := price.Load{Element: size, Runs: 2, Hosts: t.hosts}
	near := underWay(call, c.segments) * size
	machine := t.machine.At(near)
	if t.floods(call, size, c) {
		machine = machine.Flooded()
	}
	var seconds float64
	var err error
	if c.cuts() == 0 {
		seconds, err = price.Predict(&machine, &with, c.uncut(), load)
	} else {
		seconds, err = price.PredictSegments(&machine, &with, c.segments, c.uncut(), load)
	}
	return seconds / float64(load.Runs), err
}

// underWay is how many elements of a rank's longer vector are under way at a time: of an
// AllToAll whose blocks differ, those of the mean rank.
func underWay(call *schedule.Call, s schedule.Segmentation) int {
	switch {
	case !call.Op.Blockwise():
		return s.UnderWay(call.Count)
	case call.Counts == nil:
		return s.UnderWay(call.Count) * call.Size
	}
	n := 0
	for _, k := range call.Counts {
		n += s.UnderWay(k)
	}
	if call.Op == schedule.AllToAll {
		n /= call.Size
	}
	return n
}

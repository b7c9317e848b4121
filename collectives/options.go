package collectives

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// An Option changes how an operation is done. All members pass the same.
type Option func(*choice.Settings)

// Algorithm forces an algorithm by name, as in "ring". It takes all that Explain,
// Plan.Algorithm and errors print: "ring/4096x4" also sets SegmentSize and Concurrency,
// and "bcube radix 4" Radix, unless a later option does; "staged" follows from where
// buffers lie and changes nothing. "ringx1" is a single segment, and "ring" the best.
func Algorithm(name string) Option { return func(o *choice.Settings) { o.Force(name) } }

// Concurrency cuts the vector into n segments that are under way at the same
// time: pipelining with a fixed degree of concurrency.
func Concurrency(n int) Option { return func(o *choice.Settings) { o.Concurrency = n } }

// SegmentSize cuts the vector into segments of n elements, pipelined with a fixed
// size. Concurrency then says how many are under way at a time.
func SegmentSize(n int) Option { return func(o *choice.Settings) { o.SegmentSize = n } }

// Radix is a parameter of some algorithms: how many partners a rank has in a step.
func Radix(n int) Option { return func(o *choice.Settings) { o.Radix = n } }

// Threshold makes a Broadcast or Reduce eventually consistent: only the first
// part of the vector, ceil(fraction x n) elements with fraction in (0,1], is sent
// and combined. The rest of every buffer keeps what it held.
func Threshold(fraction float64) Option {
	return func(o *choice.Settings) { o.Threshold, o.Partial = fraction, true }
}

// Processes makes a Reduce eventually consistent: only the contributions of at
// least ceil(fraction x Size) ranks are waited for and combined, with fraction in
// (0,1]. Which ranks these are depends on root and size alone; see Status.
func Processes(fraction float64) Option {
	return func(o *choice.Settings) { o.Engaged, o.Some = fraction, true }
}

// options returns what opts say. It allocates nothing.
func (t *Team) options(opts []Option) choice.Settings {
	t.want = choice.Settings{}
	for _, set := range opts {
		set(&t.want)
	}
	return t.want
}

// set applies options to a task, whose other fields are set.
func (task *Task) set(opts []Option) {
	task.call.Element = task.elem.Size
	if len(opts) == 0 {
		return
	}
	// A copy that escapes, instead of the task.
	o := task.call.Options
	for _, set := range opts {
		set(&o)
	}
	task.call.Options = o
	bad := func(what string, v any) {
		task.err = fmt.Errorf("%w: %s is %v", gaspi.ErrOutOfRange, what, v)
	}
	switch op := task.call.Op; {
	case o.SegmentSize < 0:
		bad("the segment size", o.SegmentSize)
	case o.Concurrency < 0:
		bad("the concurrency", o.Concurrency)
	case o.Radix < 0:
		bad("the radix", o.Radix)
	case o.Partial && !(o.Threshold > 0 && o.Threshold <= 1):
		bad("the threshold, which must be in (0,1],", o.Threshold)
	case o.Some && !(o.Engaged > 0 && o.Engaged <= 1):
		bad("the fraction of processes, which must be in (0,1],", o.Engaged)
	case o.Partial && op != schedule.Broadcast && op != schedule.Reduce:
		task.err = fmt.Errorf("%w: %v knows no threshold; only broadcast and reduce do", gaspi.ErrNotSupported, op)
	case o.Some && op != schedule.Reduce:
		task.err = fmt.Errorf("%w: %v knows no fraction of processes; only reduce does", gaspi.ErrNotSupported, op)
	}
	if task.err == nil {
		task.err = task.compressible()
	}
}

// A Compression is a way to make vectors shorter for the wire; see Compress. Lossless, ErrorBound
// and TopK make one, and the zero value compresses nothing. Two are equal if they do the same.
type Compression struct{ method codec.Method }

// String is the compression as messages show it.
func (c Compression) String() string { return c.method.String() }

// Compress makes an AllReduce or Broadcast send its vectors in coded form. That
// takes time on all members and is worth it only where a link is slower than the
// coding; docs/decisions/0006-compression.md has figures. All members end with the
// same bits.
//
// An AllReduce codes each contribution once and the result once. A Broadcast codes
// the vector once, and of a Compression that loses something the root, too, keeps
// only what the others get.
func Compress(how Compression) Option { return func(o *choice.Settings) { o.Compress = how.method } }

// Lossless is for every element and operation; results are those of other
// algorithms that fold in the order of ranks.
func Lossless() Compression { return Compression{codec.Lossless()} }

// ErrorBound changes each vector that is coded by at most bound, positive, in every
// element. So an element of a sum over P members is off by at most P times the bound
// and by rounding, an element of a Broadcast by the bound. Infinities, NaN and
// numbers too large for the bound stay as they are. It is for AllReduce with Sum and
// for Broadcast, of float32, float64, Float16 and BFloat16.
//
// A plan of NewPlan remembers what was lost of each element and adds it in the next
// run. Then the sum of the results of many runs is off by no more than that of one.
// This takes 8 bytes of memory for each element, half of that bound for each vector,
// and is not done for single calls.
func ErrorBound(bound float64) Compression { return Compression{codec.ErrorBound(bound)} }

// TopK sends the largest elements by magnitude of each vector that is coded, and
// takes all others as 0: a part of it that is in (0,1], and at least one element. It
// is for what ErrorBound is for.
//
// A plan of NewPlan remembers what was not sent and adds it in the next run, until it
// is large enough to go: then the sum of the results of many runs follows that of
// what was contributed. Single calls forget it.
func TopK(part float64) Compression { return Compression{codec.TopK(part)} }

// compressible returns why a task's compression cannot be, or nil.
func (task *Task) compressible() error {
	how := task.call.Options.Compress
	op := task.call.Op
	switch {
	case how.None():
		return nil
	case op != schedule.AllReduce && op != schedule.Broadcast:
		return fmt.Errorf("%w: %v is not compressed; only allreduce and broadcast are", gaspi.ErrNotSupported, op)
	case how.Lossy() && op == schedule.AllReduce && (task.user != nil || task.op != Sum):
		return fmt.Errorf("%w: compression that loses something (%v) is for sums and broadcasts", gaspi.ErrNotSupported, how)
	}
	err := how.Check(task.elem.Coded())
	switch {
	case errors.Is(err, codec.ErrElement):
		return fmt.Errorf("%w: compression (%v) of elements of type %v: %w", gaspi.ErrNotSupported, how, task.elem.Type, err)
	case err != nil && task.elem.Check() == nil: // a bad type is told of later
		return fmt.Errorf("%w: compression: %w", gaspi.ErrOutOfRange, err)
	}
	return nil
}

// A Status says how much of an eventually consistent operation was done.
type Status struct {
	// Elements is how many elements, from the first on, were sent and combined;
	// all others of every buffer are as they were. Of is the length of the vector.
	Elements, Of int

	members engaged
}

// engaged are the members that contribute to a reduction: all, or a part of them in the order of algorithms.Engage. It is
// a part of results that are kept in registers, so that it has two words.
type engaged struct {
	size, root int32
	part       float64 // in (0,1]; 0: all
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
	var gives []bool
	if m := s.members; m.part > 0 {
		gives = algorithms.Engage(int(m.size), int(m.root), m.part)
	}
	var ranks []int
	for r := range int(s.members.size) {
		if gives == nil || gives[r] {
			ranks = append(ranks, r)
		}
	}
	return ranks
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
	members := engaged{size: int32(t.Size()), root: int32(task.call.Root)}
	if task.call.Engaged != nil {
		members.part = task.call.Options.Engaged
	}
	return Status{Elements: task.call.Count, Of: task.of, members: members}
}

// limited is do for an operation that may have a threshold.
func (t *Team) limited(ctx context.Context, task *Task) (Status, error) {
	if err := t.do(ctx, task); err != nil {
		return Status{Of: task.of}, err
	}
	return t.status(task), nil
}

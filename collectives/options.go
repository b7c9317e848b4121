package collectives

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
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
	case o.Partial && op != schedule.Broadcast && op != schedule.Reduce,
		o.Some && op != schedule.Reduce:
		task.err = fmt.Errorf("%w: %v knows no threshold; only broadcast and reduce do", gaspi.ErrNotSupported, op)
	}
	if task.err == nil {
		task.err = task.compressible()
	}
}

package collectives

import (
	"cmp"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// An Option changes how an operation is done. All members pass the same.
type Option func(*tuning)

// tuning is what options say; it is part of what a plan is made for.
type tuning struct {
	algorithm   string // empty: the best
	segmentSize int    // elements; 0: the best
	concurrency int    // 0: the best
	radix       int
	threshold   float64 // of the data; 0: all
	engaged     float64 // of the ranks; 0: all
	partial     bool    // threshold was set
	some        bool    // engaged was set
	compress    Compression
}

// Algorithm forces an algorithm by name, as in "ring". It takes all that Explain,
// Plan.Algorithm and errors print: "ring/4096x4" also sets SegmentSize and Concurrency,
// and "bcube radix 4" Radix, unless a later option does; "staged" follows from where
// buffers lie and changes nothing. "ringx1" is a single segment, and "ring" the best.
func Algorithm(name string) Option { return func(o *tuning) { o.force(name) } }

// force sets what a name says. Operations refuse a name that is none.
func (o *tuning) force(name string) {
	want, err := parseAlgorithm(name)
	if err != nil {
		o.algorithm = name
		return
	}
	o.algorithm = want.algorithm
	if want.segmentSize > 0 || want.concurrency > 0 {
		o.segmentSize, o.concurrency = want.segmentSize, want.concurrency
	}
	o.radix = cmp.Or(want.radix, o.radix)
}

// Concurrency cuts the vector into n segments that are under way at the same
// time: pipelining with a fixed degree of concurrency.
func Concurrency(n int) Option { return func(o *tuning) { o.concurrency = n } }

// SegmentSize cuts the vector into segments of n elements, pipelined with a fixed
// size. Concurrency then says how many are under way at a time.
func SegmentSize(n int) Option { return func(o *tuning) { o.segmentSize = n } }

// Radix is a parameter of some algorithms: how many partners a rank has in a step.
func Radix(n int) Option { return func(o *tuning) { o.radix = n } }

// Threshold makes a Broadcast or Reduce eventually consistent: only the first
// part of the vector, ceil(fraction x n) elements with fraction in (0,1], is sent
// and combined. The rest of every buffer keeps what it held.
func Threshold(fraction float64) Option {
	return func(o *tuning) { o.threshold, o.partial = fraction, true }
}

// Processes makes a Reduce eventually consistent: only the contributions of at
// least ceil(fraction x Size) ranks are waited for and combined, with fraction in
// (0,1]. Which ranks these are depends on root and size alone; see Status.
func Processes(fraction float64) Option {
	return func(o *tuning) { o.engaged, o.some = fraction, true }
}

// tune is what options say. It allocates nothing.
func (t *Team) tune(opts []Option) tuning {
	t.want = tuning{}
	for _, set := range opts {
		set(&t.want)
	}
	return t.want
}

// tuned applies options to a task.
func (task *Task) tuned(opts []Option) {
	if len(opts) == 0 {
		return
	}
	// A copy that escapes, instead of the task.
	o := task.tuning
	for _, set := range opts {
		set(&o)
	}
	task.tuning = o
	bad := func(what string, v any) {
		task.err = fmt.Errorf("%w: %s is %v", gaspi.ErrOutOfRange, what, v)
	}
	switch op := task.call.Op; {
	case o.segmentSize < 0:
		bad("the segment size", o.segmentSize)
	case o.concurrency < 0:
		bad("the concurrency", o.concurrency)
	case o.radix < 0:
		bad("the radix", o.radix)
	case o.partial && !(o.threshold > 0 && o.threshold <= 1):
		bad("the threshold, which must be in (0,1],", o.threshold)
	case o.some && !(o.engaged > 0 && o.engaged <= 1):
		bad("the fraction of processes, which must be in (0,1],", o.engaged)
	case o.partial && op != schedule.Broadcast && op != schedule.Reduce,
		o.some && op != schedule.Reduce:
		task.err = fmt.Errorf("%w: %v knows no threshold; only broadcast and reduce do", gaspi.ErrNotSupported, op)
	}
	if task.err == nil {
		task.err = task.compressible()
	}
}

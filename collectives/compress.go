package collectives

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

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

package collectives

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// checkAverage returns why a task that is an Average cannot be, or nil.
func (task *Task) checkAverage() error {
	switch op := task.call.Op; {
	case op != schedule.AllReduce && op != schedule.ReduceScatter:
		return fmt.Errorf("%w: %v has no average; only allreduce and reducescatter have", gaspi.ErrNotSupported, op)
	case task.elem.kernels == nil || task.elem.kernels.quotient() == nil:
		return fmt.Errorf("%w: average of elements of type %v; it is for floating-point numbers", gaspi.ErrOutOfRange, task.elem.typ)
	}
	return nil
}

// isAverage reports whether sums of the task are divided.
func (task *Task) isAverage() bool {
	return task.op == Average && task.user == nil && task.call.Op.Reduces()
}

// divide makes averages of the sums of a run that is about to end: of all vectors, or of the block
// of this member.
func (r *run) divide() {
	p := r.p
	call, by := &p.call, p.task.elem.kernels.quotient()
	for _, sums := range r.exec.Results() {
		if call.Op == schedule.ReduceScatter && call.InPlace {
			size := call.OutLen(p.t.me) * call.Element
			at := p.t.me * size
			if call.Counts != nil {
				at = 0
				for _, n := range call.Counts[:p.t.me] {
					at += n * call.Element
				}
			}
			sums = sums[at:][:size]
		}
		by(sums, len(p.t.ranks))
	}
}

// quotient returns the function that divides the elements of a vector by a number, nil if T is no
// floating-point number.
func (kernelsOf[T]) quotient() func(vector []byte, by int) {
	switch any(*new(T)).(type) {
	case float32:
		return func(v []byte, by int) {
			divideAll(reduce.Of[float32](v), func(x float32) float32 { return x / float32(by) })
		}
	case float64:
		return func(v []byte, by int) {
			divideAll(reduce.Of[float64](v), func(x float64) float64 { return x / float64(by) })
		}
	case Float16:
		return func(v []byte, by int) {
			divideAll(reduce.Of[Float16](v), func(x Float16) Float16 { return ToFloat16(x.Float32() / float32(by)) })
		}
	case BFloat16:
		return func(v []byte, by int) {
			divideAll(reduce.Of[BFloat16](v), func(x BFloat16) BFloat16 { return ToBFloat16(x.Float32() / float32(by)) })
		}
	}
	return nil
}

func divideAll[T any](v []T, divided func(T) T) {
	for i, x := range v {
		v[i] = divided(x)
	}
}

package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Scan stores in buf of member i the combination of the vectors buf of members 0
// to i, element by element. It blocks.
func Scan[T Element](ctx context.Context, t *Team, buf []T, op Op, opts ...Option) error {
	task := ScanTask(buf, op, opts...)
	return t.do(ctx, &task)
}

// ScanTask is Scan as a task.
func ScanTask[T Element](buf []T, op Op, opts ...Option) Task {
	return inPlace(schedule.Scan, 0, element.Combinable[T](), operator{op: op}, reduce.BytesOf(buf), opts)
}

// ExScan stores in buf of member i the combination of the vectors buf of members 0
// to i-1; that of member 0 keeps what it held. It blocks.
func ExScan[T Element](ctx context.Context, t *Team, buf []T, op Op, opts ...Option) error {
	task := ExScanTask(buf, op, opts...)
	return t.do(ctx, &task)
}

// ExScanTask is ExScan as a task.
func ExScanTask[T Element](buf []T, op Op, opts ...Option) Task {
	return inPlace(schedule.ExScan, 0, element.Combinable[T](), operator{op: op}, reduce.BytesOf(buf), opts)
}

// ScanFunc is Scan with an operation of the program; see AllReduceFunc.
func ScanFunc[T any](ctx context.Context, t *Team, buf []T, fn Func[T], ordered bool, opts ...Option) error {
	task := ScanFuncTask(buf, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// ScanFuncTask is ScanFunc as a task.
func ScanFuncTask[T any](buf []T, fn Func[T], ordered bool, opts ...Option) Task {
	return inPlace(schedule.Scan, 0, element.Movable[T](), function(fn, ordered), reduce.BytesOf(buf), opts)
}

// ExScanFunc is ExScan with an operation of the program; see AllReduceFunc.
func ExScanFunc[T any](ctx context.Context, t *Team, buf []T, fn Func[T], ordered bool, opts ...Option) error {
	task := ExScanFuncTask(buf, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// ExScanFuncTask is ExScanFunc as a task.
func ExScanFuncTask[T any](buf []T, fn Func[T], ordered bool, opts ...Option) Task {
	return inPlace(schedule.ExScan, 0, element.Movable[T](), function(fn, ordered), reduce.BytesOf(buf), opts)
}

package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Barrier blocks until all members have called it.
func Barrier(ctx context.Context, t *Team, opts ...Option) error {
	g := glanceOf(schedule.Barrier, false, 0, 0, reduce.TypeWord[byte]())
	if p, err := t.again(ctx, g, opts, nil, nil); p != nil || err != nil {
		return err
	}
	task := BarrierTask(opts...)
	return t.do(ctx, &task)
}

// BarrierTask is Barrier as a task.
func BarrierTask(opts ...Option) Task {
	task := Task{call: choice.Signature{Call: schedule.Call{Op: schedule.Barrier}}, elem: element.Movable[byte]()}
	task.set(opts)
	return task
}

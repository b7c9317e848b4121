package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Broadcast copies buf of member root to buf of all members, which has the same
// length everywhere. It blocks. With Threshold only the first part is sent; the
// Status says how much, and the rest of every buffer is as it was. T has no
// pointers.
func Broadcast[T any](ctx context.Context, t *Team, root int, buf []T, opts ...Option) (Status, error) {
	mem := reduce.BytesOf(buf)
	g := glanceOf(schedule.Broadcast, true, 0, root, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, mem, mem); p != nil || err != nil {
		return t.statusOf(p), err
	}
	task := BroadcastTask(root, buf, opts...)
	return t.limited(ctx, &task)
}

// BroadcastTask is Broadcast as a task.
func BroadcastTask[T any](root int, buf []T, opts ...Option) Task {
	return inPlace(schedule.Broadcast, root, element.Movable[T](), operator{}, reduce.BytesOf(buf), opts)
}

package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Exchange is a pairwise exchange in rounds, as in the steps of halving and
// doubling: src is cut into a part per round, and in round k the k-th part goes to
// the member whose number differs in bit k, whose k-th part arrives in dst. Where
// there is no such member, that part of dst keeps what it held. T has no pointers.
func Exchange[T any](ctx context.Context, t *Team, dst, src []T, rounds int, opts ...Option) error {
	task := ExchangeTask(dst, src, rounds, opts...)
	return t.do(ctx, &task)
}

// ExchangeTask is Exchange as a task.
func ExchangeTask[T any](dst, src []T, rounds int, opts ...Option) Task {
	return exchange(element.Movable[T](), reduce.BytesOf(dst), reduce.BytesOf(src), rounds, opts)
}

func exchange(elem element.Type, dst, src []byte, rounds int, opts []Option) Task {
	task := newTask(schedule.Call{Op: schedule.Exchange, Count: elem.Count(src), Rounds: rounds}, elem, operator{}, src, dst, opts)
	task.lengths("dst", elem.Count(dst), elem.Count(src))
	if task.err == nil && len(src) > 0 && same(dst, src) {
		task.err = fmt.Errorf("%w: dst is src, but an exchange is not done in place", gaspi.ErrNotSupported)
	}
	return task
}

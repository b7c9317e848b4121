package collectives

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// A sleeper is how a team waits for posts. Its functions are made once, so that waiting
// allocates nothing.
type sleeper struct {
	nap      nap.Nap
	patience time.Duration // how long a sleep lasts before its reason is looked for
	look     func() bool   // whether some operation can go on
	since    time.Time     // when Test first found nothing to do; zero if something was done since
	row      []instruction // awaits that rowFn waits for
	rowOf    *run
	rowFn    func() bool
}

// in returns a context that ends with ctx, and when a sleep has lasted for the patience.
func (w *sleeper) in(ctx context.Context) context.Context { return w.nap.In(ctx, w.patience) }

// rowArrived reports whether all that a row of awaits waits for is there. One wait
// for all of them is entered and left once.
func (w *sleeper) rowArrived() bool {
	for len(w.row) > 0 && w.rowOf.arrived(&w.row[0]) {
		w.row = w.row[1:]
	}
	return len(w.row) == 0
}

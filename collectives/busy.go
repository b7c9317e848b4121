package collectives

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// This file is hot: every call of a team begins and ends here.

// errBusy says that calls of a team overlap.
var errBusy = fmt.Errorf("%w: another goroutine is in a call of this team; make a team for each goroutine, with a Config.Tag of its own, or hold a lock around its calls", gaspi.ErrInUse)

// enter makes sure that one goroutine at a time is in a call of the team, its plans
// and its handles. A caller that it refuses must not look at the team.
func (t *Team) enter() bool { return t.busy.CompareAndSwap(0, 1) }

// leave pairs with the next enter.
func (t *Team) leave() { sys.StoreRelease(&t.busy, 0) }

// refused is the error of a call for which enter returned false.
func refused(op string) error {
	return agree.Outermost(&gaspi.OpError{Op: "collectives: " + op, Err: errBusy})
}

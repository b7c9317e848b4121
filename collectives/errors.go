package collectives

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

// errBusy says that calls of a team overlap.
var errBusy = fmt.Errorf("%w: another goroutine is in a call of this team; make a team for each goroutine, with a Config.Tag of its own, or hold a lock around its calls", gaspi.ErrInUse)

// errAbandoned is what handles of operations say that Reset or Close gave up.
var errAbandoned = fmt.Errorf("%w: the operation was given up by Reset or Close", gaspi.ErrClosed)

// errResetting is why a team is unusable whose Reset ended early.
var errResetting = errors.New("a Reset ended early and is to be called again")

// teamError is an error of what concerns a whole team.
func teamError(op string, err error) error {
	return agree.Outermost(&gaspi.OpError{Op: "collectives: " + op, Err: err})
}

// refused is the error of a call that another one kept out of the team.
func refused(op string) error { return teamError(op, errBusy) }

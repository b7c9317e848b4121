package collectives

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// errAbandoned is what handles of operations say that Reset or Close gave up.
var errAbandoned = fmt.Errorf("%w: the operation was given up by Reset or Close", gaspi.ErrClosed)

// teamError is an error of what concerns a whole team.
func teamError(op string, err error) error {
	if inner, ok := errors.AsType[*gaspi.OpError](err); ok {
		return &gaspi.OpError{Op: "collectives: " + op, Err: inner.Err, Wait: inner.Wait}
	}
	return &gaspi.OpError{Op: "collectives: " + op, Err: err}
}

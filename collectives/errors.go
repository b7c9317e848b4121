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
	return outermost(&gaspi.OpError{Op: "collectives: " + op, Err: err})
}

// outermost takes the place of an error of package gaspi that it wraps: a reader
// wants to know one place, and whom the call was waiting for.
func outermost(e *gaspi.OpError) error {
	if inner, ok := errors.AsType[*gaspi.OpError](e.Err); ok {
		e.Err = inner.Err
		if e.Wait == "" {
			e.Wait = inner.Wait
		}
	}
	return e
}

package hoplite

import (
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Errors to test for with errors.Is. The end of a context matches its own error.
var (
	// ErrExists says that the id names an object of another size or content.
	ErrExists = errors.New("the id names another object already")
	// ErrLost says that the object was put, and that the ranks that had copies are dead.
	ErrLost = errors.New("every copy was lost")
	// ErrDeleted says that the object was deleted while its bytes were awaited.
	ErrDeleted = errors.New("the object was deleted meanwhile")
	// ErrFull says that a store has no room, and that only a Delete could make some.
	ErrFull = errors.New("the store is full")
	// ErrMismatch says that sizes or types do not fit: of the sources of a reduction to each
	// other, or of an object to the elements that were asked for.
	ErrMismatch = errors.New("sizes do not fit")
	// ErrClosed says that the store was closed, here or with its rank.
	ErrClosed = errors.New("the store is closed")
)

// An Error says which call failed, and about which object.
type Error struct {
	Call string // "put", "get", "reduce", ...
	ID   string // the object; may be empty, and is another than the call's where that is the cause
	Err  error  // the cause
}

// Error is one line.
func (e *Error) Error() string {
	id := ""
	if e.ID != "" {
		id = fmt.Sprintf(" %.64q", e.ID)
	}
	return "hoplite: " + e.Call + id + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// causeOf is what a code of the protocol means to the program; nil for OK.
func causeOf(code core.Code) error {
	switch code {
	case core.OK:
		return nil
	case core.Exists:
		return ErrExists
	case core.Lost:
		return ErrLost
	case core.Deleted:
		return ErrDeleted
	case core.Full:
		return ErrFull
	case core.Mismatch:
		return ErrMismatch
	case core.Canceled:
		return ErrClosed // whoever has canceled for another reason says so itself
	}
	panic("hoplite: a call ended with code " + code.String() + ", which is between ranks")
}

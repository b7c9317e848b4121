package control

import (
	"io"
	"net"
	"time"
)

// A Protocol says how messages of type M travel.
type Protocol[M any] struct {
	// Encode returns a message as bytes, in parts that are written one after the other and
	// that nobody changes any more. Its error refuses the message, as one that is too large.
	Encode func(M) (net.Buffers, error)

	// Decoder returns a function that reads the next message. It is called by one goroutine,
	// and allocates no more for a message than its limit. Its error is io.EOF if the
	// connection ends between two messages.
	Decoder func(io.Reader) func() (M, error)

	// Beat is the message that is a sign of life and nothing else; IsBeat recognises it.
	Beat   M
	IsBeat func(M) bool

	// MaxUnsent bounds what a peer that does not read may pile up here, in bytes: if there is
	// more, the connection is closed. 0 is no limit.
	MaxUnsent int

	// Goodbye is how long what is queued at the end may take to leave.
	Goodbye time.Duration
}

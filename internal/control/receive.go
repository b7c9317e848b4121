package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// A SilentError says that the peer gave no sign of life for so long.
type SilentError struct{ Limit time.Duration }

// Error says for how long.
func (e SilentError) Error() string { return fmt.Sprintf("no sign of life for %v", e.Limit) }

// Receive returns the next message that is no sign of life. It blocks until there is one.
// It fails with io.EOF when the connection has ended, with a SilentError when the peer is
// silent, and else with the error of the protocol or of the connection.
func (c *Conn[M]) Receive() (M, error) { return c.receive(time.Duration(c.in.limit.Load())) }

// ReceiveWithin is Receive that fails with a SilentError if no message has come within
// patience. It is for a first message, before Watch.
func (c *Conn[M]) ReceiveWithin(patience time.Duration) (M, error) {
	c.conn.SetReadDeadline(time.Now().Add(patience))
	defer c.conn.SetReadDeadline(time.Time{})
	return c.receive(patience)
}

func (c *Conn[M]) receive(limit time.Duration) (M, error) {
	for {
		m, err := c.next()
		switch {
		case err == nil && c.protocol.IsBeat(m):
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = SilentError{limit}
		case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
			err = io.EOF // a unix socket resets when the peer has left something unread
		}
		return m, err
	}
}

// Ended reports whether an error of Receive says that the connection has ended, between two
// messages or within one.
func Ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

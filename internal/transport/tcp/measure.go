package tcp

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

var _ transport.Measurer = (*Transport)(nil)

// Measure implements transport.Measurer. It takes a system call for each connection.
func (t *Transport) Measure(see func(r base.Rank, connection int, m socket.Metrics)) {
	t.each(func(c *conn) {
		if m, err := c.measure(); err == nil {
			see(c.link.peer.Rank, c.key%t.cfg.Connections, m)
		}
	})
}

// errOver says that a connection has ended.
var errOver = errors.New("the connection has ended")

func (c *conn) measure() (socket.Metrics, error) {
	if c.secure != nil {
		return socket.MeasureConn(c.under)
	}
	// The descriptor belongs to the connection until it has ended.
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.in.ended {
		return socket.Metrics{}, errOver
	}
	return socket.Measure(c.fd)
}

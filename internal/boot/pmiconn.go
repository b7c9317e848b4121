package boot

import (
	"context"
	"fmt"
	"net"
	"time"
)

// A pmiConn is a connection to a process manager that speaks some version of PMI.
type pmiConn struct {
	conn    net.Conn
	version string // such as PMI-1, for errors
}

func (c *pmiConn) name() string { return c.version }

// abandon closes the connection in the middle of the conversation.
func (c *pmiConn) abandon() { c.conn.Close() }

// within runs f, which uses the connection, until ctx ends. Its errors begin with the version.
func (c *pmiConn) within(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.version, err)
	}
	return nil
}

// askWithin makes a call over the connection, until ctx ends, and returns its answer.
func (c *pmiConn) askWithin(ctx context.Context, call func() (map[string]string, error)) (answer map[string]string, err error) {
	err = c.within(ctx, func() (err error) {
		answer, err = call()
		return err
	})
	return answer, err
}

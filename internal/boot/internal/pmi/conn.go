// Package pmi speaks to the process manager that has started this process, by PMI-1 or PMI-2,
// the process management interface of MPICH: processes put values, pass a fence, and get each
// other's values.
//
// It knows neither variables nor jobs; package boot decides by which version to speak, over
// which connection, and about what.
package pmi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// A conn is a connection to a process manager that speaks some version of PMI.
type conn struct {
	socket  net.Conn
	version string // such as PMI-1, for errors
}

// Name returns the version, such as PMI-1.
func (c *conn) Name() string { return c.version }

// Abandon ends the conversation in the middle and leaves the connection open until the process
// ends. A manager kills a process whose connection breaks, and would do so before the process
// has said what is wrong.
func (c *conn) Abandon() {
	if raw, ok := c.socket.(syscall.Conn); ok && keepOpen(raw) == nil {
		c.socket.Close() // which else the garbage collector does
	}
}

// keepOpen duplicates a descriptor for as long as the process lives.
func keepOpen(socket syscall.Conn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		var own int
		if own, refused = syscall.Dup(int(fd)); refused == nil {
			syscall.CloseOnExec(own)
		}
	})
	return errors.Join(err, refused)
}

// end ends the conversation by finish, which asks the manager for it.
func (c *conn) end(finish func() error) error {
	err := finish()
	if err != nil {
		c.Abandon()
		return err
	}
	c.socket.Close()
	return nil
}

// within runs f, which uses the connection, until ctx ends. Its errors begin with the version.
func (c *conn) within(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { c.socket.SetDeadline(time.Unix(1, 0)) })
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
func (c *conn) askWithin(ctx context.Context, call func() (map[string]string, error)) (answer map[string]string, err error) {
	err = c.within(ctx, func() (err error) {
		answer, err = call()
		return err
	})
	return answer, err
}

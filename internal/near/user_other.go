//go:build !linux

package near

import (
	"errors"
	"net"
)

// Listen returns an error: only Linux has sockets whose names are no files.
func Listen(string) (net.Listener, error) { return nil, errors.ErrUnsupported }

// sameUser returns an error: the system is not asked.
func sameUser(net.Conn) error { return ErrStranger }

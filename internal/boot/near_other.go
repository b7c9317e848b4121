//go:build !linux

package boot

import (
	"errors"
	"fmt"
	"net"
	"runtime"
)

// listenNear returns an error: only Linux has sockets whose names are no files.
func listenNear(string) (net.Listener, error) {
	return nil, fmt.Errorf("%s has no sockets without a file; set %s and %s for all ranks: %w", runtime.GOOS, EnvRendezvous, EnvKeyFile, errors.ErrUnsupported)
}

// sameUser returns an error: the system is not asked.
func sameUser(net.Conn) error { return errStranger }

package near

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// Listen opens the socket called name on this host.
func Listen(name string) (net.Listener, error) { return net.Listen("unix", name) }

// sameUser returns an error that matches ErrStranger unless the process at the other end
// of a socket, or the one that listened there, is of the user of this one.
func sameUser(conn net.Conn) error {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var optErr error
	if err := raw.Control(func(fd uintptr) {
		peer, optErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if optErr != nil {
		return os.NewSyscallError("getsockopt", optErr)
	}
	if int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, and this process to user %d: %w", peer.Uid, os.Geteuid(), ErrStranger)
	}
	return nil
}

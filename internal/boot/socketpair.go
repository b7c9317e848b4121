package boot

import (
	"net"
	"os"
	"syscall"
)

// socketPair returns two ends of a unix-domain stream: one for this process,
// and one to be inherited by a child. Neither has a name anywhere, so nothing is
// left of it when both are closed. Both are closed on exec; what starts the
// child hands its end over explicitly.
func socketPair() (net.Conn, *os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		syscall.ForkLock.RUnlock()
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	syscall.ForkLock.RUnlock()
	mine := os.NewFile(uintptr(fds[0]), "boot server")
	defer mine.Close() // FileConn has a duplicate
	child := os.NewFile(uintptr(fds[1]), "boot client")
	conn, err := net.FileConn(mine)
	if err != nil {
		child.Close()
		return nil, nil, err
	}
	return conn, child, nil
}

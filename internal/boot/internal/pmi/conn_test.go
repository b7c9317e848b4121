package pmi

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// socketPair returns the end of a process, which only the process closes, and that of its manager.
func socketPair(t *testing.T) (net.Conn, *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	manager, process := os.NewFile(uintptr(fds[0]), "manager"), os.NewFile(uintptr(fds[1]), "process")
	t.Cleanup(func() { manager.Close() })
	defer process.Close() // FileConn has a duplicate
	conn, err := net.FileConn(process)
	if err != nil {
		t.Fatal(err)
	}
	return conn, manager
}

// TestConnectionStaysOpenAfterAnError has a process manager that kills processes which break off: the
// connection of one that has found an error is open until it ends.
func TestConnectionStaysOpenAfterAnError(t *testing.T) {
	begun := func(ctx context.Context, conn net.Conn) (*V1, error) {
		p := NewV1(conn)
		return p, p.Begin(ctx)
	}
	const welcome = v1Welcome + v1Maxes + v1Space
	opened := v2Welcome + framed("cmd=fullinit-response;rc=0;size=2;")
	opening := func(ctx context.Context, conn net.Conn) (*V2, error) {
		p, _, err := OpenV2(ctx, conn, "7.0", 1)
		return p, err
	}
	for _, c := range []struct {
		name, answers string
		call          func(context.Context, net.Conn) error
	}{
		{"PMI-1 of another version", "cmd=response_to_init rc=-1 msg=no\n", func(ctx context.Context, conn net.Conn) error {
			_, err := begun(ctx, conn)
			return err
		}},
		{"PMI-1 that takes this process for no rank", "cmd=initack\ncmd=set size=0\ncmd=set rank=0\ncmd=set debug=0\n", func(ctx context.Context, conn net.Conn) error {
			_, _, err := NewV1(conn).Introduce(ctx, 0)
			return err
		}},
		{"PMI-1 that does not end", welcome + "cmd=finalize_ack rc=1\n", func(ctx context.Context, conn net.Conn) error {
			p, err := begun(ctx, conn)
			return errors.Join(err, p.Close(ctx))
		}},
		{"PMI-2 of another version", "cmd=response_to_init rc=-1\n", func(ctx context.Context, conn net.Conn) error {
			_, err := opening(ctx, conn)
			return err
		}},
		{"PMI-2 that does not end", opened + framed("cmd=finalize-response;rc=1;"), func(ctx context.Context, conn net.Conn) error {
			p, err := opening(ctx, conn)
			return errors.Join(err, p.Close(ctx))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, manager := socketPair(t)
			if _, err := manager.WriteString(c.answers); err != nil {
				t.Fatal(err)
			}
			if err := c.call(testenv.Context(t), conn); err == nil {
				t.Error("there is no error")
			}
			runtime.GC()
			runtime.GC()
			if !isOpen(t, manager) {
				t.Error("the manager sees the end of the connection")
			}
		})
	}
}

// isOpen reports whether the other end of a connection is there. It takes what that has sent.
func isOpen(t *testing.T, socket *os.File) bool {
	t.Helper()
	for {
		n, _, err := syscall.Recvfrom(int(socket.Fd()), make([]byte, 1<<16), syscall.MSG_DONTWAIT)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return true
		case err != nil:
			t.Fatal(err)
		case n == 0:
			return false
		}
	}
}

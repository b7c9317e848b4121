//go:build linux && !portable

package socket_test

import (
	"net"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// The system of a peer that does not read answers that it has no room.
func TestPeerThatDoesNotReadIsNotSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	sender, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	reader, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	// Write until the peer's buffer is full, and for so long after that the system has
	// asked for room several times.
	end := time.Now().Add(2 * time.Second)
	if err := sender.SetWriteDeadline(end); err != nil {
		t.Fatal(err)
	}
	for data := make([]byte, 1<<20); time.Now().Before(end); {
		if _, err := sender.Write(data); err != nil {
			break
		}
	}
	silent, err := socket.ConnSilent(sender.(*net.TCPConn), 10*time.Millisecond)
	if err != nil || silent {
		t.Errorf("silent: %v, %v", silent, err)
	}
}

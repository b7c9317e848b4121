package boot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/control"
)

// How long the other end of a connection over a network may be silent. The server decides
// it, and tells the rank in its hello.
const (
	// DefaultHeartbeat is how long a peer may be silent unless somebody says
	// otherwise.
	DefaultHeartbeat = 10 * time.Second
	// MinHeartbeat is the shortest limit: less, and a loaded machine is taken for
	// a dead one.
	MinHeartbeat = 100 * time.Millisecond

	// MaxHeartbeat is the longest limit but none at all.
	MaxHeartbeat = 24 * time.Hour

	beatsPerLimit = 4 // so that a beat may come late without harm
)

const (
	goodbyePatience = 500 * time.Millisecond // for the last messages to leave

	// maxUnsent bounds what a peer that does not read may pile up here, in bytes.
	maxUnsent = 64 << 20
)

// A wire is a connection whose messages are lines.
type wire = control.Conn[message]

func newWire(conn net.Conn) *wire {
	return control.New(conn, control.Protocol[message]{
		Encode: func(m message) (net.Buffers, error) {
			line, err := encode(m)
			return net.Buffers{line}, err
		},
		Decoder:   decoder,
		Beat:      message{Kind: kindBeat},
		IsBeat:    func(m message) bool { return m.Kind == kindBeat },
		MaxUnsent: maxUnsent,
		Goodbye:   goodbyePatience,
	})
}

// heartbeat returns the signs of life of two sides of which neither may be silent for longer
// than limit. A limit of 0 is none, and needs none.
func heartbeat(limit time.Duration) control.Heartbeat {
	return control.Heartbeat{Period: limit / beatsPerLimit, Limit: limit}
}

// decoder returns a function that reads the next line. The message does not refer to memory
// that is used again.
func decoder(r io.Reader) func() (message, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	lines.Split(splitLine)
	return func() (message, error) {
		if lines.Scan() {
			return decode(lines.Bytes())
		}
		switch err := lines.Err(); {
		case err == nil:
			return message{}, io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			return message{}, fmt.Errorf("malformed message: a line of more than %d bytes", maxLine)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return message{}, errors.New("malformed message: the connection ended within a line")
		default:
			return message{}, err
		}
	}
}

// splitLine is bufio.ScanLines, except that a last line without a newline is an
// error: the message may have been cut off.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

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

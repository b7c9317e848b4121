package limit

import (
	"context"
	"fmt"
	"net"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A SocketPair is what limits are made of where ranks do not share memory: one TCP
// connection between ranks 0 and 1 that both ends send on and receive from as
// soon as they can, without sleeping and without anything around it.
type SocketPair struct {
	b       *Memory
	fd      int
	out, in socket.Vector
}

// Wired reports whether there is a wire to compare with: where all ranks are on one
// host, since nothing says how others are reached.
func (b *Memory) Wired() bool { return b.P.LocalSize() == b.P.Size() }

// Connect makes the wire between ranks 0 and 1. They meet by a notification, whose
// value is the port that rank 1 listens on.
func (b *Memory) Connect(ctx context.Context, peer gaspi.Rank) (*SocketPair, error) {
	conn, err := b.meet(ctx, peer)
	if err != nil {
		return nil, fmt.Errorf("the connection to compare with: %w", err)
	}
	fd, err := take(conn)
	if err != nil {
		return nil, err
	}
	w := &SocketPair{b: b, fd: fd}
	closeLate(w, fd)
	return w, nil
}

// congestion is the congestion control of the limit, the fastest on one host.
const congestion = "reno"

func (b *Memory) meet(ctx context.Context, peer gaspi.Rank) (*net.TCPConn, error) {
	if b.P.Rank() == 0 {
		return b.dial(ctx)
	}
	l, err := b.invite(ctx, peer)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.AcceptTCP()
}

// invite listens, and tells a peer where.
func (b *Memory) invite(ctx context.Context, peer gaspi.Rank) (*net.TCPListener, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	q := b.P.MustQueue(0)
	if err := q.Notify(b.Seg.At(peer, 0), gaspi.Notification{ID: notePort, Value: gaspi.Value(port)}); err != nil {
		l.Close()
		return nil, err
	}
	if err := q.Wait(ctx); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// dial connects to the peer that invites this rank.
func (b *Memory) dial(ctx context.Context) (*net.TCPConn, error) {
	if _, err := b.Seg.WaitSome(ctx, notePort, 1); err != nil {
		return nil, err
	}
	port, err := b.Seg.Reset(notePort)
	if err != nil {
		return nil, err
	}
	return net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
}

// take is the descriptor of a connection to compare with.
func take(conn *net.TCPConn) (int, error) {
	return socket.Take(conn, socket.Tuning{Congestion: congestion})
}

// Send sends all of data.
func (w *SocketPair) Send(ctx context.Context, data []byte) error {
	return w.move(ctx, &w.out, data, (*socket.Vector).Send)
}

// Receive fills data.
func (w *SocketPair) Receive(ctx context.Context, data []byte) error {
	return w.move(ctx, &w.in, data, (*socket.Vector).Receive)
}

type callOfSystem func(v *socket.Vector, fd int) (int, syscall.Errno)

// move calls the system until all of data has moved.
func (w *SocketPair) move(ctx context.Context, v *socket.Vector, data []byte, call callOfSystem) error {
	for looks := 1; len(data) > 0; looks++ {
		v.Reset()
		v.Add(data)
		n, errno := call(v, w.fd)
		switch {
		case errno != 0 && !socket.Again(errno):
			return fmt.Errorf("the connection to compare with: %w", errno)
		case errno != 0:
			w.b.pause()
		case n == 0:
			return fmt.Errorf("the connection to compare with: its other end is closed")
		}
		data = data[n:]
		if err := checkAt(ctx, looks); err != nil {
			return err
		}
	}
	return nil
}

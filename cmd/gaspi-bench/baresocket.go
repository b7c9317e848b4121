package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A socketPair is what limits are made of where ranks do not share memory: one TCP
// connection between ranks 0 and 1 that both ends send on and receive from as
// soon as they can, without sleeping and without anything around it.
type socketPair struct {
	b       *bench
	fd      int
	out, in sys.Vector
}

// wired reports whether there is a wire to compare with: where all ranks are on one
// host, since nothing says how others are reached.
func (b *bench) wired() bool { return b.p.LocalSize() == b.p.Size() }

// connect makes the wire between ranks 0 and 1. They meet by a notification, whose
// value is the port that rank 1 listens on.
func (b *bench) connect(ctx context.Context, peer gaspi.Rank) (*socketPair, error) {
	conn, err := b.meet(ctx, peer)
	if err != nil {
		return nil, fmt.Errorf("the connection to compare with: %w", err)
	}
	fd, err := takeBare(conn)
	if err != nil {
		return nil, err
	}
	w := &socketPair{b: b, fd: fd}
	closeLate(w, fd)
	return w, nil
}

// bareCongestion is the congestion control of the limit, the fastest on one host.
const bareCongestion = "reno"

func (b *bench) meet(ctx context.Context, peer gaspi.Rank) (*net.TCPConn, error) {
	if b.p.Rank() == 0 {
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
func (b *bench) invite(ctx context.Context, peer gaspi.Rank) (*net.TCPListener, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	q := b.p.Queue(0)
	if err := q.Notify(b.seg.At(peer, 0), gaspi.Notification{ID: notePort, Value: gaspi.Value(port)}); err != nil {
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
func (b *bench) dial(ctx context.Context) (*net.TCPConn, error) {
	if _, err := b.seg.WaitSome(ctx, notePort, 1); err != nil {
		return nil, err
	}
	port, err := b.seg.Reset(notePort)
	if err != nil {
		return nil, err
	}
	return net.DialTCP("tcp", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)})
}

// takeBare is the descriptor of a connection to compare with.
func takeBare(conn *net.TCPConn) (int, error) {
	return sys.TakeSocket(conn, sys.SocketOptions{Congestion: bareCongestion})
}

// send sends all of data.
func (w *socketPair) send(ctx context.Context, data []byte) error {
	return w.move(ctx, &w.out, data, (*sys.Vector).Send)
}

// receive fills data.
func (w *socketPair) receive(ctx context.Context, data []byte) error {
	return w.move(ctx, &w.in, data, (*sys.Vector).Receive)
}

type callOfSystem func(v *sys.Vector, fd int) (int, syscall.Errno)

// move calls the system until all of data has moved.
func (w *socketPair) move(ctx context.Context, v *sys.Vector, data []byte, call callOfSystem) error {
	for looks := 1; len(data) > 0; looks++ {
		v.Reset()
		v.Add(data)
		n, errno := call(v, w.fd)
		switch {
		case errno != 0 && !sys.Again(errno):
			return fmt.Errorf("the connection to compare with: %w", errno)
		case errno != 0:
			w.b.pause()
		case n == 0:
			return fmt.Errorf("the connection to compare with: its other end is closed")
		}
		data = data[n:]
		if looks%looksPerCheck == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// wiredMail is mail whose limit goes over a wire.
type wiredMail struct {
	*mail
	*socketPair
	ack [4]byte
}

func (m *wiredMail) sendMessage(ctx context.Context, v uint32) error {
	stamp(m.mail.out, v)
	return m.send(ctx, m.mail.out)
}

func (m *wiredMail) receiveMessage(ctx context.Context, _ uint32) error {
	return m.receive(ctx, m.mail.in)
}

// sender sends windows of messages and waits for the answer to each.
func (m *wiredMail) sender(ctx context.Context, window int) func(int) error {
	return func(n int) error {
		for range n {
			v := m.seq.next()
			stamp(m.mail.out, v)
			for range window {
				if err := m.send(ctx, m.mail.out); err != nil {
					return err
				}
			}
			if err := m.receive(ctx, m.ack[:]); err != nil {
				return err
			}
			if got := binary.LittleEndian.Uint32(m.ack[:]); got != v {
				return fmt.Errorf("the connection to compare with: answer %d to message %d", got, v)
			}
		}
		return nil
	}
}

func (m *wiredMail) receiver(ctx context.Context, window int) func(int) error {
	return func(n int) error {
		for range n {
			v := m.seq.next()
			for range window {
				if err := m.receive(ctx, m.mail.in); err != nil {
					return err
				}
			}
			if err := verify(m.mail.in, v); err != nil {
				return err
			}
			binary.LittleEndian.PutUint32(m.ack[:], v)
			if err := m.send(ctx, m.ack[:]); err != nil {
				return err
			}
		}
		return nil
	}
}

//go:build linux && !portable

package socket

import (
	"bytes"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// sockets are two ends of a connection.
func sockets(t *testing.T, opt Tuning) (a, b int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	x, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	y, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []net.Conn{x, y} {
		fd, err := Take(c.(*net.TCPConn), opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sys.CloseFile(fd) })
		if i == 0 {
			a = fd
		} else {
			b = fd
		}
	}
	return a, b
}

// awaitBytes receives into v until there is something or the end.
func awaitBytes(v *Vector, fd int) (int, syscall.Errno) {
	for until := time.Now().Add(10 * time.Second); ; {
		n, errno := v.Receive(fd)
		if !Again(errno) || time.Now().After(until) {
			return n, errno
		}
	}
}

func TestVectorMovesPieces(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"one piece", "hello", ""}, {"two pieces", "hello, ", "world"}, {"an empty one first", "", "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := sockets(t, Tuning{})
			send, receive := new(Vector), new(Vector)
			send.Add([]byte(c.a))
			send.Add([]byte(c.b))
			if send.Len() != len(c.a+c.b) {
				t.Errorf("length %d", send.Len())
			}
			if n, errno := send.Send(from); n != len(c.a+c.b) || errno != 0 {
				t.Fatalf("sent %d, %v", n, errno)
			}
			one, two := make([]byte, 3), make([]byte, 100)
			receive.Add(one)
			receive.Add(two)
			n, errno := awaitBytes(receive, to)
			if got := append(one, two...)[:n]; errno != 0 || string(got) != c.a+c.b {
				t.Errorf("received %q, %v", got, errno)
			}
		})
	}
}

func TestVectorHasRoomForSoMany(t *testing.T) {
	v := new(Vector)
	for i := range vectorMost {
		if !v.Add([]byte{1}) {
			t.Fatalf("no room for piece %d", i)
		}
	}
	if v.Add([]byte{1}) || v.Len() != vectorMost {
		t.Errorf("room for more, or length %d", v.Len())
	}
	if v.Reset(); v.Len() != 0 || !v.Add([]byte{1}) {
		t.Error("no room after a reset")
	}
}

func TestSocketsDoNotBlock(t *testing.T) {
	from, to := sockets(t, Tuning{Silence: time.Minute})
	v := new(Vector)
	v.Add(make([]byte, 1<<20))
	if _, errno := v.Receive(to); !Again(errno) {
		t.Errorf("nothing to receive: %v", errno)
	}
	sent := 0
	for {
		n, errno := v.Send(from)
		if sent += n; Again(errno) {
			break
		}
		if errno != 0 {
			t.Fatal(errno)
		}
	}
	if n, err := Unsent(from); err != nil || n > sent {
		t.Errorf("%d of %d not acknowledged, %v", n, sent, err)
	}
	EndSending(from)
	for {
		n, errno := awaitBytes(v, to)
		if errno != 0 {
			t.Fatal(errno)
		}
		if n == 0 {
			break
		}
		sent -= n
	}
	if sent != 0 {
		t.Errorf("%d bytes are missing", sent)
	}
	sys.CloseFile(to)
	for until := time.Now().Add(10 * time.Second); ; {
		if _, errno := v.Send(from); errno == syscall.EPIPE || errno == syscall.ECONNRESET {
			break // and no signal
		}
		if time.Now().After(until) {
			t.Fatal("a peer that is gone is no error")
		}
	}
}

func TestCongestionIsChosen(t *testing.T) {
	a, _ := sockets(t, Tuning{Congestion: "reno"})
	if got := congestion(t, a); got != "reno" {
		t.Errorf("congestion control %q, want reno, which every system has", got)
	}
	b, _ := sockets(t, Tuning{Congestion: "none such"})
	c, _ := sockets(t, Tuning{})
	if got, want := congestion(t, b), congestion(t, c); got != want {
		t.Errorf("congestion control %q where the name is unknown, want the default %q", got, want)
	}
}

func TestPoller(t *testing.T) {
	p, err := NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, b := sockets(t, Tuning{})
	events := new(Events)
	if err := p.Add(b, 7, false); err != nil {
		t.Fatal(err)
	}
	if n := p.Look(events); n != 0 {
		t.Fatalf("%d events of a silent socket", n)
	}
	v := new(Vector)
	v.Add([]byte("x"))
	v.Send(a)
	if n := p.Await(events); n != 1 {
		t.Fatalf("%d events, want 1", n)
	}
	if key, in, out := events.At(0); key != 7 || !in || out {
		t.Errorf("key %d, in %v, out %v; want 7, readable, not writable", key, in, out)
	}
	awaitBytes(v, b)
	if err := p.Watch(b, 7, true); err != nil {
		t.Fatal(err)
	}
	p.Look(events)
	if key, in, out := events.At(0); events.Len() != 1 || key != 7 || in || !out {
		t.Errorf("key %d, in %v, out %v; want 7, writable", key, in, out)
	}
	if p.Remove(b); p.Look(events) != 0 {
		t.Error("events of a socket that was removed")
	}
	p.Wake()
	if p.Look(events) != 0 {
		t.Error("a wake is an event")
	}
	if n := p.Await(events); n != 0 { // and it has not got lost in the look
		t.Errorf("%d events", n)
	}
}

func TestUnsentOfAConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	Set(c.(*net.TCPConn), Tuning{Congestion: "reno", Silence: time.Second})
	if _, err := c.Write(bytes.Repeat([]byte{1}, 100)); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		n, err := UnsentOf(c.(*net.TCPConn))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d bytes were never acknowledged", n)
		}
	}
}

// congestion is the name of the congestion control that a connection uses.
func congestion(t *testing.T, fd int) string {
	t.Helper()
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMeasure counts what a connection has carried.
func TestMeasure(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	const sent = 1000
	if _, err := c.Write(make([]byte, sent)); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; {
		m, err := MeasureConn(c.(*net.TCPConn))
		if err != nil {
			t.Fatal(err)
		}
		if m.Acked >= sent && m.Segments > 0 && m.RTT > 0 && m.MinRTT > 0 && m.MinRTT <= m.RTT+time.Second {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%+v after %d bytes", m, sent)
		}
	}
	if m, err := MeasureConn(other.(*net.TCPConn)); err != nil || m.Received != sent {
		t.Errorf("%+v, %v; want %d bytes received", m, err, sent)
	}
}

// TestAcknowledgeNow has one side delay a short packet until the other has acknowledged the one before, which that
// one's system puts off, since it has replied to all others. It is sent when it is acknowledged, or delayed no more.
func TestAcknowledgeNow(t *testing.T) {
	from, to := sockets(t, Tuning{})
	send := func(fd int, text string) {
		t.Helper()
		v := new(Vector)
		v.Add([]byte(text))
		if n, errno := v.Send(fd); n != len(text) || errno != 0 {
			t.Fatalf("sent %d, %v", n, errno)
		}
	}
	receive := func(fd int, want string) {
		t.Helper()
		v, b := new(Vector), make([]byte, 100)
		v.Add(b)
		if n, errno := awaitBytes(v, fd); errno != 0 || string(b[:n]) != want {
			t.Fatalf("received %q, %v; want %q", b[:max(n, 0)], errno, want)
		}
	}
	sent := func(fd int) uint64 {
		t.Helper()
		m, err := Measure(fd)
		if err != nil {
			t.Fatal(err)
		}
		return m.Segments
	}
	talk := func() { // so that replies are expected to bring acknowledgements
		for range 10 {
			send(from, "question")
			receive(to, "question")
			send(to, "answer")
			receive(from, "answer")
		}
	}
	delayed := func() {
		t.Helper()
		talk()
		Delay(from, true)
		send(from, "at once")
		before := sent(from)
		send(from, "delayed")
		if got := sent(from); got != before {
			t.Errorf("%d segments were sent, want none", got-before)
		}
	}
	delayed()
	receive(to, "at once")
	before := sent(to)
	AcknowledgeNow(to)
	if got := sent(to); got == before {
		t.Error("nothing was acknowledged")
	}
	receive(to, "delayed")
	at := false
	for range 10 { // the system may pace segments
		delayed()
		before = sent(from)
		Delay(from, false)
		at = at || sent(from) == before+1
		for got := 0; got < len("at once"+"delayed"); {
			v := new(Vector)
			v.Add(make([]byte, 100))
			n, errno := awaitBytes(v, to)
			if got += n; errno != 0 {
				t.Fatal(errno)
			}
		}
	}
	if !at {
		t.Error("what was delayed is not sent when the delay ends")
	}
}

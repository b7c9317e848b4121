//go:build linux && !portable

package sys

import (
	"net"
	"os"
	"testing"
	"time"
)

func TestMeasureProcessor(t *testing.T) {
	before, err := MeasureProcessor()
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after.CPU-before.CPU < time.Millisecond; { // which takes a millisecond of processor time
		if after, err = MeasureProcessor(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunDelays(t *testing.T) {
	seen := map[int]time.Duration{}
	if err := RunDelays(func(thread int, d time.Duration) { seen[thread] = d }); err != nil {
		t.Fatal(err)
	}
	first, ok := seen[os.Getpid()]
	if !ok || len(seen) < 2 {
		t.Errorf("threads %v, want the first and others", seen)
	}
	for thread, d := range seen {
		if d < 0 {
			t.Errorf("thread %d was delayed for %v", thread, d)
		}
	}
	if err := RunDelays(func(thread int, d time.Duration) {
		if thread == os.Getpid() && d < first {
			t.Errorf("delay went from %v to %v", first, d)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestMeasureSocket counts what a connection has carried.
func TestMeasureSocket(t *testing.T) {
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

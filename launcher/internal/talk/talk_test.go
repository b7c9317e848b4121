package talk

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestFramesArrive carries frames and, for a minute, signs of life over a connection.
func TestFramesArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, 10*time.Second), New(b, 10*time.Second)
		var want []Frame
		go left.Receive() // it hears the signs of life of the other side
		for i := range 60 {
			f := Frame{Kind: FrameKind(1 + i%7), Number: int32(-i)}
			if i%3 > 0 {
				f.Data = bytes.Repeat([]byte{byte(i)}, 50*i)
			}
			want = append(want, f)
			left.Send(f)
		}
		go func() {
			time.Sleep(time.Minute) // sleep: by the clock of the bubble, with signs of life meanwhile
			left.Send(Frame{Kind: 9})
			left.Close()
		}()
		var got []Frame
		var last error
		for last == nil {
			var f Frame
			if f, last = right.Receive(); last == nil {
				got = append(got, f)
			}
		}
		if d := cmp.Diff(append(want, Frame{Kind: 9}), got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if last != io.EOF {
			t.Errorf("it ended with %v, want EOF", last)
		}
		right.Close()
	})
}

// TestSignsOfLife counts what a side sends by itself, with and without a limit of silence.
func TestSignsOfLife(t *testing.T) {
	for _, c := range []struct {
		limit time.Duration
		want  int // in a minute and a second
	}{{8 * time.Second, 61}, {20 * time.Millisecond, 6100}, {0, 6}} {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			left := New(a, c.limit)
			b.SetReadDeadline(time.Now().Add(61*time.Second + time.Millisecond))
			for n := 0; ; n++ {
				f, err := readFrame(b)
				if err == nil && f.Kind == ping {
					continue
				}
				if !errors.Is(err, os.ErrDeadlineExceeded) || n != c.want {
					t.Errorf("limit %v: %d signs of life, want %d, then %+v, %v", c.limit, n, c.want, f, err)
				}
				break
			}
			b.Close()
			left.Close()
		})
	}
}

func TestLargestFrame(t *testing.T) {
	if parts, err := encode(Frame{Kind: 1, Data: make([]byte, MaxData)}); err != nil || len(parts[1]) != MaxData {
		t.Errorf("%d parts, %v", len(parts), err)
	}
	defer func() {
		if p := recover(); p != "talk: frame with 16777217 bytes; at most 16777216 fit" {
			t.Errorf("a frame with one byte more: %v", p)
		}
	}()
	encode(Frame{Kind: 1, Data: make([]byte, MaxData+1)})
}

func TestCredit(t *testing.T) {
	c := NewCredit()
	got := 0
	for range Window / MaxPiece {
		got += c.Take(1 << 20)
	}
	if got != Window {
		t.Errorf("%d bytes at once, want %d", got, Window)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if n := c.Take(100); n != 7 {
			t.Errorf("took %d, want the 7 that were given back", n)
		}
		if n := c.Take(100); n != 0 {
			t.Errorf("took %d of a closed account", n)
		}
	})
	c.Add(-5)
	c.Add(7)
	testenv.Eventually(t, "both waits have taken what there is", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.left == 0 })
	c.Close()
	waiting.Wait()
}

func TestInflow(t *testing.T) {
	f := NewInflow()
	piece := make([]byte, Window/2)
	for range 2 {
		if !f.Put(piece) {
			t.Error("no room for half a window")
		}
	}
	if f.Put([]byte{1}) {
		t.Error("room for more than a window")
	}
	f.Close()
	if !f.Put(piece) {
		t.Error("what comes after the end is not the sender's fault")
	}
	for want, n := range []int{Window / 2, Window / 2, 0} {
		if got := f.Next(); len(got) != n {
			t.Errorf("piece %d has %d bytes, want %d", want, len(got), n)
		}
	}
}

func TestBadFrames(t *testing.T) {
	cases := []struct {
		name, in string
		want     string
	}{
		{"nothing", "", "EOF"},
		{"half a header", "\x01\x00\x00", "unexpected EOF"},
		{"half a payload", "\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00abc", "unexpected EOF"},
		{"no payload", "\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00", "unexpected EOF"},
		{"padding", "\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", "malformed frame 010001000000000000000000: expected three zeros after the kind and a length of at most 16777216"},
		{"length", "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x01", "malformed frame 010000000000000001000001: expected three zeros after the kind and a length of at most 16777216"},
	}
	for _, c := range cases {
		if f, err := readFrame(bytes.NewReader([]byte(c.in))); err == nil || err.Error() != c.want {
			t.Errorf("%s: %+v, %v; want %s", c.name, f, err, c.want)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00abc"))
	f.Fuzz(func(t *testing.T, in []byte) {
		frame, err := readFrame(bytes.NewReader(in))
		if err != nil {
			return
		}
		h := frame.header()
		if again := append(h[:], frame.Data...); !bytes.HasPrefix(in, again) {
			t.Errorf("read %+v from %x", frame, in)
		}
	})
}

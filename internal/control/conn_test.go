package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mostText bounds a message of the tests, in bytes.
const mostText = 100

// text is a protocol of a byte that says how many bytes follow, and these; none is a sign of
// life.
func text() Protocol[string] {
	return Protocol[string]{
		Encode: func(s string) (net.Buffers, error) {
			if len(s) > mostText {
				return nil, fmt.Errorf("%d bytes, at most %d fit", len(s), mostText)
			}
			return net.Buffers{{byte(len(s))}, []byte(s)}, nil
		},
		Decoder: func(r io.Reader) func() (string, error) {
			return func() (string, error) { return readText(r) }
		},
		IsBeat:  func(s string) bool { return s == "" },
		Goodbye: time.Second,
	}
}

func readText(r io.Reader) (string, error) {
	var b [1 + mostText]byte
	if _, err := io.ReadFull(r, b[:1]); err != nil {
		return "", err
	}
	if b[0] > mostText {
		return "", fmt.Errorf("%d bytes announced, at most %d fit", b[0], mostText)
	}
	s := b[1 : 1+b[0]]
	if _, err := io.ReadFull(r, s); err == io.EOF {
		return "", io.ErrUnexpectedEOF
	} else if err != nil {
		return "", err
	}
	return string(s), nil
}

// socketPair returns both ends of a connection of the system.
func socketPair(t *testing.T) (ends [2]net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "end")
		ends[i], err = net.FileConn(f)
		f.Close() // FileConn has a duplicate
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends
}

// all receives until the end, which it returns too.
func all(c *Conn[string]) (got []string, end error) {
	for {
		s, err := c.Receive()
		if err != nil {
			return got, err
		}
		got = append(got, s)
	}
}

func TestMessagesArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, text()), New(b, text())
		var want []string
		for i := range 100 {
			want = append(want, strings.Repeat("x", i+1))
			left.Send(want[i])
		}
		go left.Close() // which sends what is queued
		got, end := all(right)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if end != io.EOF {
			t.Errorf("it ended with %v, want EOF", end)
		}
		right.Close()
		right.Close()
		if err := right.Send("nobody gets it"); err != nil || !errors.Is(right.Err(), net.ErrClosed) {
			t.Errorf("sending after Close: %v, then Err is %v, want nil and net.ErrClosed", err, right.Err())
		}
		<-right.Written()
	})
}

func TestConcurrentSend(t *testing.T) {
	ends := socketPair(t)
	left, right := New(ends[0], text()), New(ends[1], text())
	const senders, each = 8, 500
	var sending sync.WaitGroup
	for i := range senders {
		sending.Go(func() {
			for j := range each {
				left.Send(fmt.Sprint(i, " ", j))
			}
		})
	}
	sending.Go(func() { left.Watch(Heartbeat{Period: time.Millisecond, Limit: time.Minute}) })
	go func() {
		sending.Wait()
		left.Close()
	}()
	var next [senders]int
	got, end := all(right)
	for _, s := range got {
		var i, j int
		if _, err := fmt.Sscan(s, &i, &j); err != nil || j != next[i] {
			t.Fatalf("received %q after %d messages of that sender", s, next[i])
		}
		next[i]++
	}
	if end != io.EOF || len(got) != senders*each {
		t.Errorf("%d messages, then %v; want %d", len(got), end, senders*each)
	}
	right.Close()
}

func TestMessagesTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, text()), New(b, text())
		if err := left.Send(strings.Repeat("x", mostText+1)); err == nil || err.Error() != "101 bytes, at most 100 fit" || left.Err() != nil {
			t.Errorf("sending it: %v, then Err is %v", err, left.Err())
		}
		left.Send("next")
		if s, err := right.Receive(); s != "next" || err != nil {
			t.Errorf("after it came %q, %v", s, err)
		}
		<-left.Written()
		go a.Write([]byte{mostText + 1})
		if s, err := right.Receive(); err == nil || err.Error() != "101 bytes announced, at most 100 fit" || Ended(err) {
			t.Errorf("receiving it: %q, %v", s, err)
		}
		left.Close()
		right.Close()
	})
}

func TestUnreadMessagesAreBounded(t *testing.T) {
	p := text()
	p.MaxUnsent = 1 << 20
	c := New(socketPair(t)[0], p)
	queued := make(chan struct{})
	c.SendAfter(func() { <-queued }, "what comes later waits")
	for range p.MaxUnsent / mostText {
		c.Send(strings.Repeat("x", mostText))
	}
	close(queued)
	if err := c.Err(); err == nil || err.Error() != "the peer has left more than 1048576 bytes unread" {
		t.Errorf("%v, want an error about what is unread", err)
	}
	if _, err := c.Receive(); err != io.EOF {
		t.Errorf("receiving ended with %v, want EOF", err)
	}
	<-c.Written()
	c.Close()
}

// TestMessagesThatAreReadDoNotCount sends more than may wait, one after the other.
func TestMessagesThatAreReadDoNotCount(t *testing.T) {
	ends := socketPair(t)
	p := text()
	p.MaxUnsent = 2 * mostText
	left, right := New(ends[0], p), New(ends[1], p)
	for i := range 10 {
		left.Send(strings.Repeat("x", mostText))
		<-left.Written()
		if _, err := right.Receive(); err != nil || left.Err() != nil {
			t.Fatalf("message %d: %v, %v", i, err, left.Err())
		}
	}
	left.Close()
	right.Close()
}

func TestSendAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, text()), New(b, text())
		begun := time.Now()
		left.Send("first")
		<-written(t, left, right, "first")
		left.SendAfter(func() { time.Sleep(time.Hour) }, "second") // sleep: by the clock of the bubble
		left.Send("third")
		done := left.Written()
		for _, want := range []string{"second", "third"} {
			if s, err := right.Receive(); s != want || err != nil || time.Since(begun) != time.Hour {
				t.Errorf("%q, %v after %v; want %q after an hour", s, err, time.Since(begun), want)
			}
		}
		<-done
		left.Close()
		right.Close()
	})
}

// TestSendLate has messages made when they are written: in the place of the first call, with what came up
// until then, and again for a call after that. A message that cannot be encoded ends the connection.
func TestSendLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		left, right := New(a, text()), New(b, text())
		var mu sync.Mutex
		var pending []string
		late := func(s string) {
			mu.Lock()
			pending = append(pending, s)
			mu.Unlock()
			left.SendLate(func() []string {
				mu.Lock()
				defer mu.Unlock()
				defer func() { pending = nil }()
				return pending
			})
		}
		left.Send("first")
		synctest.Wait() // it is being written
		left.Send("second")
		late("a")
		left.Send("third")
		late("b")
		for _, want := range []string{"first", "second", "a", "b", "third"} {
			if s, err := right.Receive(); s != want || err != nil {
				t.Errorf("%q, %v; want %q", s, err, want)
			}
		}
		late("c")
		<-written(t, left, right, "c")
		late(strings.Repeat("x", mostText+1))
		synctest.Wait()
		if left.Err() == nil {
			t.Error("a message that cannot be encoded is taken for sent")
		}
		left.Close()
		right.Close()
	})
}

// written returns what from's Written returns, after to has received want.
func written(t *testing.T, from, to *Conn[string], want string) <-chan struct{} {
	t.Helper()
	done := from.Written()
	if s, err := to.Receive(); s != want || err != nil {
		t.Fatalf("%q, %v; want %q", s, err, want)
	}
	return done
}

func TestWrittenOfABrokenConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c := New(a, text())
		c.Send("nobody reads it")
		done := c.Written()
		synctest.Wait()
		select {
		case <-done:
			t.Error("what nobody reads was written")
		default:
		}
		b.Close()
		<-done
		<-c.Written()
		if !errors.Is(c.Err(), io.ErrClosedPipe) {
			t.Errorf("Err is %v, want that of the pipe", c.Err())
		}
		c.Close()
	})
}

func TestCloseTakesNoLongerThanGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c := New(a, text())
		c.Watch(Heartbeat{Period: time.Second, Limit: 10 * time.Second})
		c.Send("nobody reads it")
		begun := time.Now()
		c.Close()
		if took := time.Since(begun); took != time.Second || !errors.Is(c.Err(), os.ErrDeadlineExceeded) {
			t.Errorf("it took %v, want the second of Goodbye, and the error is %v", took, c.Err())
		}
		b.Close()
	})
}

// TestEnds has each way in which a connection ends.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(c *Conn[string], other net.Conn)
		want string
	}{
		{"the peer closes", func(_ *Conn[string], other net.Conn) { other.Close() }, "EOF"},
		{"the peer closes within a message", func(_ *Conn[string], other net.Conn) { other.Write([]byte{2, 'x'}); other.Close() }, "unexpected EOF"},
		{"the peer closes and leaves something unread", func(c *Conn[string], other net.Conn) {
			c.Send("unread")
			<-c.Written()
			other.Close()
		}, "EOF"},
		{"this side breaks it", func(c *Conn[string], _ net.Conn) { c.Break() }, "EOF"},
		{"this side ends receiving", func(c *Conn[string], _ net.Conn) { c.CloseRead() }, "EOF"},
		{"this side closes", func(c *Conn[string], _ net.Conn) { c.Close() }, "EOF"},
		{"the peer hears the end of sending", func(c *Conn[string], other net.Conn) {
			c.EndSending()
			io.Copy(io.Discard, other)
			other.Close()
		}, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := socketPair(t)
			ends[1].Write([]byte{1, 'x'})
			conn := New(ends[0], text())
			if s, err := conn.Receive(); s != "x" || err != nil {
				t.Fatalf("%q, %v", s, err)
			}
			c.end(conn, ends[1])
			if s, err := conn.Receive(); err == nil || err.Error() != c.want || !Ended(err) {
				t.Errorf("%q, %v, want %s", s, err, c.want)
			}
			conn.Close()
		})
	}
}

func TestCloseReadLeavesWhatHasArrived(t *testing.T) {
	ends := socketPair(t)
	c, other := New(ends[0], text()), New(ends[1], text())
	want := []string{"one", "two"}
	for _, s := range want {
		other.Send(s)
	}
	other.Close()
	c.CloseRead()
	if got, end := all(c); !slices.Equal(got, want) || end != io.EOF {
		t.Errorf("%q, then %v; want %q, then EOF", got, end, want)
	}
	c.Close()
}

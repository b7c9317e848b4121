package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestWhoHasProvenNothingIsAskedAgain lets strangers of each kind hold the rendezvous for
// a while, before the right one is there.
func TestWhoHasProvenNothingIsAskedAgain(t *testing.T) {
	t.Parallel()
	stranger := func(t *testing.T, first, then []byte) net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				io.ReadFull(conn, make([]byte, 120))
				conn.Write(first)
				io.ReadFull(conn, make([]byte, 32))
				conn.Write(then)
				conn.Close()
			}
		}()
		return l
	}
	challenge := append([]byte("GASPIGO\x02"), make([]byte, 32)...)
	for _, c := range []struct {
		name        string
		first, then []byte
	}{
		{"does not understand", append([]byte{4}, make([]byte, 35)...), nil},
		{"has another key", challenge, append([]byte{3}, make([]byte, 35)...)},
		{"refuses without proof", challenge, append([]byte{2, 0, 2, 0}, append(make([]byte, 32), "no"...)...)},
		{"welcomes without proof", challenge, append([]byte{1}, make([]byte, 35)...)},
		{"speaks something else", []byte(strings.Repeat("HTTP/1.1 400 Bad Request\r\n", 5)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // each waits for a second
			s, v := startRendezvous(t, 2, false)
			l := stranger(t, c.first, c.then)
			defer l.Close()
			m := v.meeting(s, 1)
			told := make(chan string, 100)
			m.addresses, m.tell.log = []string{l.Addr().String(), testenv.FreeAddress(t)}, func(line string) { told <- line }
			m.patience = time.Second
			if _, err := m.join(testenv.Context(t), infoOf(s, 1)); !errors.Is(err, auth.ErrUnproven) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no rendezvous at") || !isOneLine(err) {
				t.Errorf("%v, want that nobody there is the rendezvous", err)
			}
			if line := <-told; !strings.Contains(line, "not the rendezvous of this job") || len(told) > 0 {
				t.Errorf("told %q and %d lines more, want one", line, len(told))
			}
			m.addresses, m.patience = append(m.addresses, v.address), 20*time.Second
			session, err := m.join(testenv.Context(t), infoOf(s, 1))
			if err != nil {
				t.Fatal(err)
			}
			session.Close()
		})
	}
}

// isOneLine reports whether an error is a line that says nothing of contexts.
func isOneLine(err error) bool {
	return !strings.Contains(err.Error(), "\n") && !strings.Contains(err.Error(), "context")
}

// TestNobodyAtTheRendezvous wants one line that matches all that was wrong, be time over or
// the call given up.
func TestNobodyAtTheRendezvous(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := meeting{addresses: []string{testenv.FreeAddress(t), l.Addr().String(), testenv.FreeAddress(t)}, proof: auth.Credentials{Key: auth.NewKey()}}
	// join has a time in which to try all addresses, more where the machine is slower.
	join := func(limits func(time.Duration) (given, patience time.Duration)) (limit time.Duration, err error) {
		for limit = 100 * time.Millisecond; limit < testenv.Limit(t) && !errors.Is(err, syscall.ECONNREFUSED); limit *= 2 {
			given, patience := limits(limit)
			m.patience = patience
			ctx, cancel := context.WithTimeout(testenv.Context(t), given)
			_, err = m.join(ctx, Info{Rank: 1, Size: 2, Job: "j"})
			cancel()
		}
		return limit / 2, err
	}
	limit, err := join(func(limit time.Duration) (given, patience time.Duration) { return time.Hour, limit })
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, context.DeadlineExceeded) || !isOneLine(err) || !strings.Contains(err.Error(), fmt.Sprintf("after %v, the limit of GASPI_JOIN_TIMEOUT (", limit)) {
		t.Errorf("%v; want that time is over", err)
	}
	_, err = join(func(limit time.Duration) (given, patience time.Duration) { return limit, time.Hour })
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, context.DeadlineExceeded) || !isOneLine(err) || !strings.Contains(err.Error(), "when the call was given up (") {
		t.Errorf("%v; want that the call was given up", err)
	}
}

// TestLauncherOfAnotherAuthorityIsNone has the right key and address, and no more.
func TestLauncherOfAnotherAuthorityIsNone(t *testing.T) {
	t.Parallel()
	s, v := startRendezvous(t, 2, false)
	other := auth.NewAuthority(s.job)
	m := v.meeting(s, 1)
	m.proof.Identity, m.patience = other.Rank(1).Identity, 2*time.Second
	if _, err := m.join(testenv.Context(t), infoOf(s, 1)); !errors.Is(err, auth.ErrUnproven) || !strings.Contains(err.Error(), "does not prove to be the launcher") {
		t.Errorf("%v, want that it is not the launcher", err)
	}
}

// 3,000 strangers that say nothing, or part of an opening, keep nobody from joining.
func TestStrangersAtTheRendezvous(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	const ranks, ends = 64, 2 // this process has both ends of all connections
	strangers := min(3000, int(files.Cur)/ends-4*ranks-100)
	if strangers < 100 {
		t.Skipf("only %d descriptors", files.Cur)
	}
	s, v := startRendezvous(t, ranks, false)
	for i := range strangers {
		c, err := net.Dial("tcp", v.address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%4 == 0 {
			io.WriteString(c, "GASPIGO\x02")
		}
	}
	begun := time.Now()
	var all sync.WaitGroup
	for r := range base.Rank(ranks) {
		all.Go(func() {
			c, err := v.meeting(s, r).join(testenv.Context(t), infoOf(s, r))
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
				return
			}
			if err := c.Fence(testenv.Context(t), "f", ""); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
			c.Close()
		})
	}
	all.Wait()
	t.Logf("%d strangers; %d ranks have joined, passed a fence and left after %v", strangers, ranks, time.Since(begun))
}

// TestRecordingOfARankIsWorthNothing says again what a rank has said to its rendezvous,
// while the job goes on.
func TestRecordingOfARankIsWorthNothing(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	watcher := joinOverNetwork(t, s, v, 0)
	conn, err := net.Dial("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	heard := &ear{Conn: conn}
	inner, err := auth.Client(heard, s.Authority().Rank(1), auth.Hello{Role: auth.RoleSession, Job: s.job, From: 1, Version: protocolVersion}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dialRemote(inner, infoOf(s, 1), s.Authority().Rank(1), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put("secret", []byte("value")); err != nil {
		t.Fatal(err)
	}
	if got, err := watcher.Get(testenv.Context(t), 1, "secret"); err != nil || string(got) != "value" {
		t.Fatalf("%q, %v", got, err)
	}
	c.Close()
	said := heard.said()
	if strings.Contains(said, "secret") || strings.Contains(said, "kind") {
		t.Errorf("what a rank says is readable: %q", said)
	}
	for cut := range len(said) {
		if cut%16 != 0 && cut != len(said)-1 {
			continue
		}
		again, err := net.Dial("tcp", v.address)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(again, said[:cut+1])
		again.(*net.TCPConn).CloseWrite()
		again.SetReadDeadline(time.Now().Add(20 * time.Second))
		if answer, _ := io.ReadAll(again); len(answer) > 40+36 || len(answer) > 40 && answer[40] != 3 {
			t.Errorf("%d bytes of a recording were answered with %x", cut+1, answer)
		}
		again.Close()
	}
	if watcher.Lost() != nil || len(watcher.Failures()) > 0 {
		t.Error("the recording had an effect")
	}
}

// An ear keeps what is written to a connection.
type ear struct {
	net.Conn
	mu   sync.Mutex
	text strings.Builder
}

func (e *ear) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text.Write(b)
	return e.Conn.Write(b)
}

func (e *ear) said() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

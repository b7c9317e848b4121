package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// A job is what the tests of a Session need of whoever started it. All of them
// run on both: sessions inside one process and sessions over a connection.
type job struct {
	sessions []Session
	leave    func(Failure)
	onMiss   func(func(by base.Rank, what Failure)) // nil where nobody is told
}

func forEachJob(t *testing.T, size int, test func(*testing.T, *job)) {
	t.Run("local", func(t *testing.T) {
		l := NewLocal(size)
		l.OnKill(func(r base.Rank) { l.Leave(r, Failure{Reason: "killed by signal 9"}) })
		j := &job{leave: func(f Failure) { l.Leave(f.Rank, f) }}
		for r := range size {
			j.sessions = append(j.sessions, l.Session(base.Rank(r)))
		}
		test(t, j)
	})
	t.Run("wire", func(t *testing.T) {
		s := startServer(t, size)
		j := &job{leave: s.Announce, onMiss: s.OnMiss}
		for r := range size {
			j.sessions = append(j.sessions, join(t, s, base.Rank(r)))
		}
		test(t, j)
	})
	t.Run("network", func(t *testing.T) {
		s, gate := startRendezvous(t, size, false)
		s.vanish = time.Hour // however long it takes until leave goes on
		j := &job{onMiss: s.OnMiss}
		j.leave = func(f Failure) { // as a process that ends: its connection goes too
			j.sessions[f.Rank].(*client).wire.Break()
			s.Announce(f)
			s.announcing.Wait()
		}
		for r := range size {
			j.sessions = append(j.sessions, joinOverNetwork(t, s, gate, base.Rank(r)))
		}
		test(t, j)
	})
}

// startServer returns a server that kills by announcing the death.
func startServer(t *testing.T, size int) *Server {
	t.Helper()
	var s *Server
	s, err := NewServer(NewJobID(), size, func(r base.Rank) error {
		go s.Announce(Failure{Rank: r, Reason: "killed by signal 9"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// attach returns the rank's end of a new connection.
func attach(t *testing.T, s *Server, r base.Rank) net.Conn {
	t.Helper()
	child, err := s.Attach(r)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	conn, err := net.FileConn(child)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func join(t *testing.T, s *Server, r base.Rank) *client {
	t.Helper()
	info := Info{Rank: r, Size: s.hub.size, LocalRank: int(r), LocalSize: s.hub.size, Job: s.job}
	c, err := dial(attach(t, s, r), info)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestValueOfARankThatDiedLaterCounts(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		if err := j.sessions[1].Put("x", []byte("last words")); err != nil {
			t.Fatal(err)
		}
		j.sessions[1].Close() // its last words have left it
		j.leave(Failure{Rank: 1, Left: true, Reason: "exit status 0"})
		got, err := j.sessions[0].Get(testenv.Context(t), 1, "x")
		if err != nil || string(got) != "last words" {
			t.Errorf("%q, %v; want the value that rank 1 had put", got, err)
		}
	})
}

func TestFailuresComeOnceAndInOrder(t *testing.T) {
	const size = 6
	forEachJob(t, size, func(t *testing.T, j *job) {
		var want []Failure
		for r := size - 1; r > 0; r-- {
			f := Failure{Rank: base.Rank(r), Left: r%2 == 0, Reason: fmt.Sprintf("exit status %d", r%2)}
			want = append(want, f)
			j.leave(f)
			j.leave(Failure{Rank: base.Rank(r), Reason: "again"})
		}
		var got []Failure
		for range want {
			select {
			case f := <-j.sessions[0].Failures():
				got = append(got, f)
			case <-testenv.Context(t).Done():
				t.Fatalf("only %v came", got)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		j.sessions[0].Close()
		if f, open := <-j.sessions[0].Failures(); open {
			t.Errorf("one too many: %v", f)
		}
	})
}

func TestFailuresFromBeforeTheSession(t *testing.T) {
	s := startServer(t, 3)
	s.Announce(Failure{Rank: 1, Reason: "killed by signal 11"})
	c := join(t, s, 0)
	want := Failure{Rank: 1, Reason: "killed by signal 11"}
	select {
	case got := <-c.Failures():
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
	case <-testenv.Context(t).Done():
		t.Fatal("it never came")
	}
}

// TestMiss has a rank miss others, and leave: whoever started the job hears it.
func TestMiss(t *testing.T) {
	forEachJob(t, 3, func(t *testing.T, j *job) {
		heard := make(chan string, 3)
		if j.onMiss != nil {
			j.onMiss(func(by base.Rank, what Failure) { heard <- fmt.Sprintf("%d misses %+v", by, what) })
		}
		j.sessions[1].Miss(2, "no answer")
		j.sessions[1].Miss(0, strings.Repeat("x", maxReason+1))
		j.sessions[1].Close()
		j.sessions[1].Miss(2, "too late")
		if j.onMiss == nil {
			return // it is one process, which knows
		}
		for _, want := range []Failure{{Rank: 2, Reason: "no answer"}, {Rank: 0, Reason: strings.Repeat("x", maxReason)}} {
			select {
			case got := <-heard:
				if d := cmp.Diff(fmt.Sprintf("1 misses %+v", want), got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			case <-testenv.Context(t).Done():
				t.Fatalf("nobody heard %+v", want)
			}
		}
		if len(heard) > 0 {
			t.Errorf("one too many: %s", <-heard)
		}
	})
}

func TestKill(t *testing.T) {
	forEachJob(t, 3, func(t *testing.T, j *job) {
		s := j.sessions[0]
		if err := s.Kill(testenv.Context(t), 0); err == nil || !strings.Contains(err.Error(), "itself") {
			t.Errorf("own rank: %v", err)
		}
		for _, r := range []base.Rank{-1, 3} {
			if err := s.Kill(testenv.Context(t), r); !errors.Is(err, base.ErrBadRank) {
				t.Errorf("rank %d: %v, want ErrBadRank", r, err)
			}
		}
		for range 2 { // the second finds it gone
			if err := s.Kill(testenv.Context(t), 2); err != nil {
				t.Errorf("kill rank 2: %v", err)
			}
		}
		select {
		case f := <-j.sessions[1].Failures():
			if f.Rank != 2 {
				t.Errorf("rank 1 heard of %v, want rank 2", f)
			}
		case <-testenv.Context(t).Done():
			t.Error("rank 1 never heard of it")
		}
	})
}

func TestKillThatIsRefused(t *testing.T) {
	s, err := NewServer("refusing", 2, func(base.Rank) error { return errors.New("no such process") })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := join(t, s, 0)
	for range 2 {
		if err := c.Kill(testenv.Context(t), 1); err == nil || !strings.Contains(err.Error(), "no such process") {
			t.Errorf("%v, want the launcher's reason", err)
		}
	}
	l := NewLocal(2)
	if err := l.Session(0).Kill(testenv.Context(t), 1); err == nil || !strings.Contains(err.Error(), "OnKill") {
		t.Errorf("without OnKill: %v", err)
	}
}

func TestCloseEndsWhatWaits(t *testing.T) {
	forEachJob(t, 2, func(t *testing.T, j *job) {
		s := j.sessions[0]
		errs := make(chan error)
		s.Fence(over(), "never", "")
		go func() { errs <- s.Fence(testenv.Context(t), "never", "") }()
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := <-errs; !errors.Is(err, base.ErrClosed) {
			t.Errorf("waiting fence: %v, want ErrClosed", err)
		}
		if _, err := s.Get(testenv.Context(t), 1, "later"); !errors.Is(err, base.ErrClosed) {
			t.Errorf("later get: %v, want ErrClosed", err)
		}
		if err := s.Put("later", nil); !errors.Is(err, base.ErrClosed) {
			t.Errorf("later put: %v, want ErrClosed", err)
		}
		if err := s.Kill(testenv.Context(t), 1); !errors.Is(err, base.ErrClosed) {
			t.Errorf("later kill: %v, want ErrClosed", err)
		}
		if _, open := <-s.Failures(); open || s.Lost() != nil {
			t.Errorf("feed open %v, lost %v; want neither", open, s.Lost())
		}
	})
}

func TestLauncherGoes(t *testing.T) {
	s := startServer(t, 2)
	c := join(t, s, 0)
	c.Fence(over(), "never", "")
	s.Close()
	if err := c.Fence(testenv.Context(t), "never", ""); !errors.Is(err, ErrLost) {
		t.Errorf("%v, want ErrLost", err)
	}
	if _, open := <-c.Failures(); open {
		t.Error("the feed is open; want it closed")
	}
	if c.Lost() == nil {
		t.Error("Lost() is false after the launcher went")
	}
}

func TestAttachRefusals(t *testing.T) {
	s := startServer(t, 2)
	attach(t, s, 0).Close()
	cases := []struct {
		name string
		rank base.Rank
		want string
	}{{"twice", 0, "already"}, {"negative", -1, "no such rank"}, {"too large", 2, "no such rank"}}
	for _, c := range cases {
		if child, err := s.Attach(c.rank); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, child, err, c.want)
		}
	}
	if _, err := NewServer("no spaces", 1, nil); err == nil {
		t.Error("a job id with a space was accepted")
	}
	if _, err := NewServer("job", 0, nil); err == nil {
		t.Error("a job of no ranks was accepted")
	}
}

// openDescriptors counts the descriptors of this process.
func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	return len(entries)
}

func TestNothingIsLeftOpen(t *testing.T) {
	cycle := func() {
		s := startServer(t, 3)
		var clients []*client
		for r := range 3 {
			clients = append(clients, join(t, s, base.Rank(r)))
		}
		clients[0].Close()
		s.Announce(Failure{Rank: 1, Reason: "exit status 1"})
		clients[1].Close()
		s.Close()
		clients[2].Close()
	}
	cycle()
	before := openDescriptors(t)
	for range 20 {
		cycle()
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after 20 jobs", before, after)
	}
}

// A slowConn takes its time to close. A second Close does not wait, as with a socket.
type slowConn struct {
	net.Conn
	begun   atomic.Bool
	release chan struct{} // closed when the closing may end
}

func (c *slowConn) CloseRead() error { return nil } // as a socket whose peer has closed

func (c *slowConn) Close() error {
	if c.begun.Swap(true) {
		return net.ErrClosed
	}
	<-c.release
	return c.Conn.Close()
}

func TestCloseWaitsForAConnectionThatIsClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startServer(t, 1)
		ours, theirs := net.Pipe()
		conn := &slowConn{Conn: ours, release: make(chan struct{})}
		if err := s.serve(0, conn, false); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		synctest.Wait() // the server closes its end by itself
		if !conn.begun.Load() {
			t.Error("the connection is not being closed")
		}
		done := make(chan struct{})
		go func() {
			s.Close()
			close(done)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("Close has returned before the connection was closed")
		default:
		}
		close(conn.release)
		<-done
	})
}

// A rank that is not greeted says how long it has waited.
func TestNoGreeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go io.Copy(io.Discard, theirs)
		_, err := greeted(&client{inbox: newInbox(Info{Job: "j", Size: 2}), remote: true, patience: helloPatience}, ours)
		if err == nil || err.Error() != "greeting the rendezvous: no sign of life for 10s" {
			t.Errorf("%v, want the time that it has waited", err)
		}
		theirs.Close()
	})
}

// TestLostIsKnownAtOnce has launchers go: a rank that hears no more of failures knows why,
// or it would go on without a launcher.
func TestLostIsKnownAtOnce(t *testing.T) {
	for range 300 {
		s := startServer(t, 1)
		c := join(t, s, 0)
		known := make(chan bool)
		go func() {
			for range c.Failures() {
			}
			known <- c.Lost() != nil
		}()
		s.Close()
		if !<-known {
			t.Fatal("the feed of failures has ended, and the launcher is not lost yet")
		}
	}
}

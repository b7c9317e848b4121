package boot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// hello is what a well-behaved rank 0 of 2 says first.
func hello(s *Server) string {
	return fmt.Sprintf(`{"kind":"hello","version":6,"job":"%s","rank":0,"size":2}`+"\n", s.job)
}

func TestServerDropsRanksThatSendNonsense(t *testing.T) {
	cases := []struct{ name, lines, want string }{
		{"no JSON", "GET / HTTP/1.1\n", "malformed message"},
		{"no hello", `{"kind":"bye","rank":0}` + "\n", "began with a bye message"},
		{"wrong version", `{"kind":"hello","version":9,"job":"j","rank":0,"size":2}` + "\n", "protocol version 9"},
		{"wrong job", `{"kind":"hello","version":6,"job":"other","rank":0,"size":2}` + "\n", "of job other; it is rank 0 of 2 of job"},
		{"wrong rank", "HELLO1", "takes itself for rank 1"},
		{"second hello", "HELLO" + "HELLO", "a process has joined as rank 0 already: start the program once"},
		{"launcher's message", "HELLO" + `{"kind":"gone","rank":1}` + "\n", "unexpected gone message"},
		{"kill itself", "HELLO" + `{"kind":"kill","rank":0}` + "\n", "request to kill rank 0"},
		{"get of nobody", "HELLO" + `{"kind":"get","rank":2,"name":"x"}` + "\n", "a value of rank 2"},
		{"put twice", "HELLO" + strings.Repeat(`{"kind":"put","rank":0,"name":"x"}`+"\n", 2), "second value"},
		{"fence twice", "HELLO" + strings.Repeat(`{"kind":"fence","rank":0,"name":"x"}`+"\n", 2), "came twice"},
		{"kill nobody", "HELLO" + `{"kind":"kill","rank":2}` + "\n", "request to kill rank 2"},
		{"miss itself", "HELLO" + `{"kind":"miss","rank":0,"reason":"x"}` + "\n", "rank 0 cannot be reached from rank 0"},
		{"miss nobody", "HELLO" + `{"kind":"miss","rank":2,"reason":"x"}` + "\n", "rank 2 cannot be reached"},
		{"endless line", "HELLO" + strings.Repeat("x", maxLine+1), "more than 1048576 bytes"},
		{"own error", "HELLO" + `{"kind":"error","rank":0,"reason":"I give up"}` + "\n", "I give up"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t, 2)
			reported := make(chan error, 1)
			s.OnError(func(r base.Rank, err error) { reported <- fmt.Errorf("rank %d: %w", r, err) })
			conn := attach(t, s, 0)
			defer conn.Close()
			text := strings.ReplaceAll(c.lines, "HELLO1", strings.Replace(hello(s), `"rank":0`, `"rank":1`, 1))
			go io.WriteString(conn, strings.ReplaceAll(text, "HELLO", hello(s)))
			select {
			case err := <-reported:
				if !strings.HasPrefix(err.Error(), "rank 0: ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("reported %v, want %q", err, c.want)
				}
			case <-testenv.Context(t).Done():
				t.Fatal("nothing was reported")
			}
			last := ""
			for in := bufio.NewScanner(conn); in.Scan(); {
				last = in.Text()
			}
			if !strings.Contains(last, `"kind":"error"`) {
				t.Errorf("the last message is %q, want an error that says why", last)
			}
			// The other rank is served as before.
			other := join(t, s, 1)
			if err := other.Kill(testenv.Context(t), 0); err != nil {
				t.Errorf("rank 1 after that: %v", err)
			}
		})
	}
}

// fakeLauncher returns a connection whose other end says lines.
func fakeLauncher(t *testing.T, lines string) net.Conn {
	t.Helper()
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.FileConn(theirs)
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(ours, lines)
		io.Copy(io.Discard, ours)
		ours.Close()
	}()
	return conn
}

func TestClientRefusesAWrongLauncher(t *testing.T) {
	info := Info{Rank: 0, Size: 2, LocalSize: 2, Job: "j"}
	cases := []struct{ name, lines, want string }{
		{"no JSON", "hi\n", "malformed message"},
		{"no hello", `{"kind":"gone","rank":1}` + "\n", "not with hello"},
		{"other version", `{"kind":"hello","version":7,"job":"j","rank":0,"size":2}` + "\n", "same version of the module"},
		{"other job", `{"kind":"hello","version":6,"job":"k","rank":0,"size":2}` + "\n", "of job k, but the environment says"},
		{"other size", `{"kind":"hello","version":6,"job":"j","rank":0,"size":3}` + "\n", "rank 0 of 3"},
		{"no key", `{"kind":"hello","version":6,"job":"j","rank":0,"size":2}` + "\n", "64 hexadecimal digits"},
	}
	for _, c := range cases {
		if _, err := dial(fakeLauncher(t, c.lines), info); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.want)
		}
	}
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if _, err := dial(ours, info); !errors.Is(err, ErrLost) {
		t.Errorf("nobody there: %v, want ErrLost", err)
	}
}

func TestClientEndsOnNonsense(t *testing.T) {
	good := `{"kind":"hello","version":6,"job":"j","rank":0,"size":2,"key":"` + auth.NewKey().Text() + `"}` + "\n"
	cases := []struct{ name, lines, want string }{
		{"no JSON", "hi\n", "malformed message"},
		{"line cut off", `{"kind":"gone","rank":1}`, ""},
		{"no such rank", `{"kind":"gone","rank":2}` + "\n", "rank 2 of a job of 2"},
		{"rank's message", `{"kind":"kill","rank":1}` + "\n", "unexpected kill message"},
		{"value of nobody", `{"kind":"value","rank":2,"name":"x"}` + "\n", "rank 2 of a job of 2"},
		{"error", `{"kind":"error","rank":0,"reason":"you talk nonsense"}` + "\n", "the launcher has closed the connection: you talk nonsense"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := dial(fakeLauncher(t, good+c.lines), Info{Size: 2, LocalSize: 2, Job: "j"})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" { // nothing wrong yet: the rest of the line may come
				s.Close()
				return
			}
			if err := s.Fence(testenv.Context(t), "never", ""); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want ErrLost with %q", err, c.want)
			}
			if s.Lost() == nil {
				t.Error("Lost() is false")
			}
		})
	}
}

func TestPeerThatDoesNotReadIsDropped(t *testing.T) {
	s := startServer(t, 2)
	deaf := attach(t, s, 0)
	defer deaf.Close()
	l := s.links[0]
	var err error
	for range 2 * maxUnsent / MaxValue {
		if err = l.say(message{Kind: kindValue, Name: "x", Value: make([]byte, MaxValue)}); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "unread") {
		t.Errorf("%v, want an error about what is unread", err)
	}
}

func TestTooManyFencesAtOnce(t *testing.T) {
	h := newHub(2)
	for i := range maxOpen {
		if err := h.come(0, fmt.Sprint(i), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.come(0, "one more", "", ""); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("%v, want the limit", err)
	}
	if err := h.come(1, "0", "", ""); err != nil {
		t.Errorf("one of those under way: %v", err)
	}
	if err := h.come(0, "one more", "", ""); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

package boot

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestHandshakeAnsweredTooLate has ranks whose handshake succeeds at the rendezvous and not at
// the rank, which closes the connection or forgets it, and tries again: it joins, and is
// neither refused nor taken for dead.
func TestHandshakeAnsweredTooLate(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(net.Conn)
	}{
		{"closed", func(conn net.Conn) { conn.Close() }},
		{"forgotten", func(net.Conn) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, v := startRendezvous(t, 2, false)
			zero := joinOverNetwork(t, s, v, 0)
			for range 3 {
				m := v.meeting(s, 1)
				conn, err := m.connect(testenv.Context(t), infoOf(s, 1), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				c.leave(conn)
			}
			one := joinOverNetwork(t, s, v, 1)
			if err := one.Put("x", []byte("y")); err != nil {
				t.Fatal(err)
			}
			if got, err := zero.Get(testenv.Context(t), 1, "x"); err != nil || string(got) != "y" {
				t.Errorf("got %q, %v", got, err)
			}
			if err := s.serveAgain(1); err == nil {
				t.Error("a rank that has joined could join again")
			}
		})
	}
}

// TestServedInAnotherOrder has a rank that has given up a connection and made another one, both
// of which the rendezvous serves only then, in either order: the rank joins over the one that it
// uses, and the other one ends.
func TestServedInAnotherOrder(t *testing.T) {
	for _, name := range []string{"given up first", "given up last"} {
		t.Run(name, func(t *testing.T) {
			s, v := startRendezvous(t, 2, false)
			givenUp, old := net.Pipe()
			used, current := net.Pipe()
			order := []net.Conn{old, current}
			if name == "given up last" {
				slices.Reverse(order)
			}
			for _, conn := range order {
				if err := s.Serve(conn, 1); err != nil {
					t.Fatal(err)
				}
			}
			one, err := dialRemote(used, infoOf(s, 1), v.meeting(s, 1).proof, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			defer one.Close()
			if _, err := givenUp.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("the connection that was given up: %v, want its end", err)
			}
			if err := s.serveAgain(1); err == nil {
				t.Error("a rank that has joined could join again")
			}
		})
	}
}

// TestJoinRefusedAtHello has a rank that is taken for dead between its handshake and its hello:
// it is told so.
func TestJoinRefusedAtHello(t *testing.T) {
	s, v := startRendezvous(t, 2, false)
	mine, theirs := net.Pipe()
	if err := s.Serve(theirs, 1); err != nil {
		t.Fatal(err)
	}
	s.Announce(Failure{Rank: 1, Reason: "host lost"})
	_, err := dialRemote(mine, infoOf(s, 1), v.meeting(s, 1).proof, time.Hour)
	if err == nil || !strings.Contains(err.Error(), "taken for dead: host lost") {
		t.Errorf("%v, want the reason for which rank 1 was refused", err)
	}
}

// serveAgain returns why rank r cannot be attached.
func (s *Server) serveAgain(r base.Rank) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admissibleLocked(r)
}

func TestJoinWithTLS(t *testing.T) {
	s, v := startRendezvous(t, 3, true)
	var all sync.WaitGroup
	for r := range base.Rank(3) {
		m, info := v.meeting(s, r), infoOf(s, r)
		_, secure, err := m.proof.Key.TLS(s.job)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := m.connect(t.Context(), info, secure)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := conn.(*tls.Conn); !ok {
			t.Fatalf("rank %d speaks over a %T", r, conn)
		}
		c, err := dialRemote(conn, info, m.proof, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if err := c.Put("x", make([]byte, MaxValue)); err != nil {
				t.Error(err)
			}
			if got, err := c.Get(testenv.Context(t), (r+1)%3, "x"); err != nil || len(got) != MaxValue {
				t.Errorf("rank %d: %d bytes, %v", r, len(got), err)
			}
			if err := c.Fence(testenv.Context(t), "f", ""); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

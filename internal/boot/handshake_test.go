package boot

import (
	"net"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/base"
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
				conn, err := m.connect(limit(t), infoOf(s, 1), nil)
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
			if got, err := zero.Get(limit(t), 1, "x"); err != nil || string(got) != "y" {
				t.Errorf("got %q, %v", got, err)
			}
			if err := s.serveAgain(1); err == nil {
				t.Error("a rank that has joined could join again")
			}
		})
	}
}

// serveAgain returns why rank r cannot be attached.
func (s *Server) serveAgain(r base.Rank) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admissibleLocked(r)
}

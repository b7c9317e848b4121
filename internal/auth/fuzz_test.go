package auth

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// FuzzAccept checks that no bytes of somebody without the key get in, make the
// parser panic, or are taken for a Hello that does not encode to them.
func FuzzAccept(f *testing.F) {
	whole := append(opening(f), make([]byte, macSize)...)
	f.Add(whole, false)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Add(whole[:openingSize], false)
	shows := append(bytes.Clone(whole), make([]byte, shownSize)...)
	shows[showsAt] = 1
	f.Add(shows, true)
	job := NewAuthority(jobName)
	f.Fuzz(func(t *testing.T, in []byte, identities bool) {
		c := job.Rank(3)
		if !identities {
			c.Identity = nil
		}
		conn := &script{in: bytes.NewReader(in)}
		if _, h, err := server(conn, GateConfig{Credentials: c}, nil); err == nil {
			t.Fatalf("%x was let in as %+v", in, h)
		}
		if len(in) < openingSize {
			return
		}
		b := [openingSize]byte(in)
		h, next, shows, err := getHello(&b)
		if err != nil {
			return
		}
		var again [openingSize]byte
		if err := putHello(&again, h, next, shows); err != nil || !bytes.Equal(again[:shareAt], b[:shareAt]) {
			t.Errorf("%x was read as %+v, which encodes to %x, %v", in, h, again, err)
		}
	})
}

// FuzzDial checks the same for the side that connects.
func FuzzDial(f *testing.F) {
	f.Add(append([]byte(magic), make([]byte, shareSize+verdictSize)...))
	f.Add(append([]byte{codeBadHello}, make([]byte, verdictSize)...))
	f.Add(append(append([]byte(magic), make([]byte, shareSize)...), append([]byte{codeRefused, 0, 255, 255}, make([]byte, 1000)...)...))
	f.Add(append(append([]byte(magic), make([]byte, shareSize)...), append([]byte{codeWelcome, 1, 0, 0}, make([]byte, macSize+shownSize)...)...))
	job := NewAuthority(jobName)
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, c := range []Credentials{job.Rank(7), {Key: job.key}} {
			for _, role := range []Role{RoleLane, RoleSession} {
				me := someHello
				me.Role = role
				if _, err := Client(&script{in: bytes.NewReader(in)}, c, me, nil); err == nil || errors.Is(err, ErrRefused) {
					t.Fatalf("%x was taken for a proof: %v", in, err)
				}
			}
		}
	})
}

// FuzzVerify checks that what holders of the key show is nobody's identity, unless it was
// made for that.
func FuzzVerify(f *testing.F) {
	job := NewAuthority(jobName)
	me, other := job.Rank(1).Identity, job.Rank(2).Identity
	tr := &transcript{}
	f.Add(other.show(tr, "dial"))
	f.Add(me.show(tr, "accept"))
	f.Add(make([]byte, shownSize))
	f.Fuzz(func(t *testing.T, shown []byte) {
		if err := me.verify(shown, subject{kindRank, 3, jobName}, tr, "dial"); err == nil {
			t.Errorf("%x was taken for rank 3", shown)
		}
	})
}

// A script is a connection on which everything that the peer says is known.
type script struct {
	net.Conn
	in io.Reader
}

func (s *script) Read(b []byte) (int, error)   { return s.in.Read(b) }
func (s *script) Write(b []byte) (int, error)  { return len(b), nil }
func (*script) SetDeadline(time.Time) error    { return nil }
func (*script) RemoteAddr() (address net.Addr) { return nil }

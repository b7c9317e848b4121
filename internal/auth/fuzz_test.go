package auth

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// FuzzAccept checks that no bytes of somebody without the key get in, make the
// parser panic, or are taken for a Hello that does not encode to them.
func FuzzAccept(f *testing.F) {
	whole := append(opening(f), make([]byte, macSize)...)
	f.Add(whole)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(whole[:openingSize])
	k := NewKey()
	f.Fuzz(func(t *testing.T, in []byte) {
		conn := &script{in: bytes.NewReader(in)}
		if h, err := acceptKey(conn, k, nil); err == nil {
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
	k := NewKey()
	f.Fuzz(func(t *testing.T, in []byte) {
		if err := dialKey(&script{in: bytes.NewReader(in)}, k, someHello); err == nil {
			t.Fatalf("%x was taken for a proof", in)
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

package auth

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// patience is how long a handshake may take. Both sides answer at once, so it
// only has to cover a loaded machine and a far one.
const patience = 10 * time.Second

// After the opening of the side that connected come
//
//	challenge, to it     | 0 magic, 8 | 8 share, 32 |
//	proof, from it       | 0 mac, 32 | shown |
//	verdict, to it       | 0 code | 1 shows | 2 length of text, 2 | 4 mac, 32 | text | shown |
//
// A share is a fresh X25519 public key. Each mac is HMAC-SHA256, under a key of its
// own derived from the job's, over opening and challenge, and over all of its own
// message but itself. Both shares are fresh, so nothing recorded is ever accepted
// again, and neither side can be made to compute what the other must show. Where
// sides have identities, each shows its own (see identity.go), which signs opening
// and challenge too: so who holds the key cannot stand between two others.
const (
	challengeSize = len(magic) + shareSize
	macSize       = sha256.Size
	verdictSize   = 4 + macSize
	maxText       = 512
)

// The codes of a verdict. The two that strangers can get carry no mac and no
// text.
const (
	codeWelcome  = 1 // the connection is yours
	codeRefused  = 2 // you hold the key, but: text
	codeBadProof = 3 // you do not hold the key
	codeBadHello = 4 // the opening is malformed or of another version
)

// ErrRefused is matched by the errors of Client that say that the other side has
// proven who it is and does not want this connection, so that it makes no sense to
// try again.
var ErrRefused = errors.New("connection refused by the handshake")

// ErrUnproven is matched by the errors of Client that say that somebody does not want
// this connection, or cannot be the one that was meant, and has not proven who it is:
// anybody may be there until the right one is.
var ErrUnproven = errors.New("the other side has not proven that it belongs to the job")

// A transcript is everything that both sides said before they proved anything, what
// ties it to a TLS connection where there is one, and this side's half of the secret
// that follows from both shares.
type transcript struct {
	opening   [openingSize]byte
	challenge [challengeSize]byte
	channel   []byte
	own       *ecdh.PrivateKey
}

// share makes this side's share and returns its public half.
func (t *transcript) share() []byte {
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic("auth: no X25519 key: " + err.Error()) // the random source never returns an error
	}
	t.own = own
	return own.PublicKey().Bytes()
}

// mac returns the proof of one side.
func (t *transcript) mac(k Key, side string, more ...[]byte) []byte {
	m := hmac.New(sha256.New, k.derive("handshake "+side, sha256.Size))
	m.Write(t.opening[:])
	m.Write(t.challenge[:])
	m.Write(t.channel)
	for _, b := range more {
		m.Write(b)
	}
	return m.Sum(nil)
}

// hash stands for the transcript where a fixed size is wanted.
func (t *transcript) hash() [sha256.Size]byte {
	h := sha256.New()
	h.Write(t.opening[:])
	h.Write(t.challenge[:])
	h.Write(t.channel)
	return [sha256.Size]byte(h.Sum(nil))
}

// within runs a handshake on conn under a time limit, which it removes.
func within(conn net.Conn, handshake func() error) error {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := handshake(); err != nil {
		return fmt.Errorf("handshake with %s: %w", name(conn), err)
	}
	conn.SetDeadline(time.Time{}) // a connection that was closed meanwhile says so when it is used
	return nil
}

// bind ties the transcript to the TLS connection that it is spoken over, so
// that nobody can pass it on from one such connection to another.
func (t *transcript) bind(conn net.Conn) error {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return nil
	}
	if err := secure.Handshake(); err != nil {
		return err
	}
	state := secure.ConnectionState()
	var err error
	t.channel, err = state.ExportKeyingMaterial("EXPORTER-gaspi-go", nil, 32)
	return err
}

// explain turns how a read ended into what the peer did.
func explain(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it closed the connection before the handshake was over: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("it did not finish the handshake in time: %w", err)
	}
	return err
}

// name returns the address of the peer for a message.
func name(conn net.Conn) string {
	if a := conn.RemoteAddr(); a != nil && a.String() != "" {
		return a.String()
	}
	return "the peer"
}

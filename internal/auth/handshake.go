package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// patience is how long a handshake may take. Both sides answer at once, so it
// only has to cover a loaded machine and a far one.
const patience = 10 * time.Second

// After the opening of the side that connected come
//
//	challenge, to it     | 0 magic, 8 | 8 nonce, 32 |
//	proof, from it       | 0 mac, 32 |
//	verdict, to it       | 0 code | 1 zero | 2 length of text, 2 | 4 mac, 32 | text |
//
// Each mac is HMAC-SHA256, under a key of its own derived from the job's, over
// opening and challenge, and over what precedes it in its own message and the
// text. Both nonces are fresh, so nothing recorded is ever accepted again, and
// neither side can be made to compute what the other must show.
const (
	challengeSize = len(magic) + nonceSize
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

// ErrRefused is matched by the errors of Dial that say that the other side
// answered and does not want this connection, so that it makes no sense to try
// again.
var ErrRefused = errors.New("connection refused by the handshake")

// A transcript is everything that both sides said before they proved anything,
// and what ties it to a TLS connection where there is one.
type transcript struct {
	opening   [openingSize]byte
	challenge [challengeSize]byte
	channel   []byte
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

// Dial proves to the other side of conn that this side holds the key, and makes
// it prove the same. It is for the side that connected; the other one calls
// Accept. It reads not one byte more than the handshake.
//
// It blocks for at most 10 s; the deadline of conn is replaced and finally
// removed. The error says why the
// other side refused (then it matches ErrRefused), or what was wrong with it;
// conn is then of no more use, and the caller closes it.
func Dial(conn net.Conn, k Key, me Hello) error {
	return within(conn, func() error { return dial(conn, k, me, nextPlain) })
}

func dial(conn net.Conn, k Key, me Hello, next byte) error {
	var t transcript
	if err := putHello(&t.opening, me, next); err != nil {
		return err
	}
	if err := t.bind(conn); err != nil {
		return err
	}
	rand.Read(t.opening[nonceAt:]) // never returns an error
	if _, err := conn.Write(t.opening[:]); err != nil {
		return err
	}
	if err := readChallenge(conn, &t); err != nil {
		return err
	}
	if _, err := conn.Write(t.mac(k, "dial")); err != nil {
		return explain(err)
	}
	return readVerdict(conn, k, &t)
}

// readChallenge reads the challenge, in whose place a refusal may stand.
func readChallenge(conn net.Conn, t *transcript) error {
	if _, err := io.ReadFull(conn, t.challenge[:verdictSize]); err != nil {
		return explain(err)
	}
	if t.challenge[0] == codeBadHello && [macSize]byte(t.challenge[4:]) == [macSize]byte{} {
		return fmt.Errorf("%w: the other side does not understand the first message: is it of another version?", ErrRefused)
	}
	if err := checkMagic(t.challenge[:len(magic)]); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, t.challenge[verdictSize:]); err != nil {
		return explain(err)
	}
	return nil
}

// readVerdict reads what the other side decided. A verdict is believed once its
// mac is right; a plain refusal is believed anyway, since whoever can forge it
// can also cut the connection.
func readVerdict(conn net.Conn, k Key, t *transcript) error {
	var b [verdictSize + maxText]byte
	if _, err := io.ReadFull(conn, b[:verdictSize]); err != nil {
		return explain(err)
	}
	if b[0] == codeBadProof {
		return fmt.Errorf("%w: the other side has another key: is it of another job?", ErrRefused)
	}
	n := int(binary.LittleEndian.Uint16(b[2:]))
	if n > maxText {
		return fmt.Errorf("malformed verdict: a text of %d bytes", n)
	}
	text := b[verdictSize : verdictSize+n]
	if _, err := io.ReadFull(conn, text); err != nil {
		return explain(err)
	}
	if !hmac.Equal(b[4:verdictSize], t.mac(k, "accept", b[:4], text)) {
		return errors.New("the other side could not prove that it holds the key of the job")
	}
	switch b[0] {
	case codeWelcome:
		return nil
	case codeRefused:
		return fmt.Errorf("%w: %s", ErrRefused, text)
	}
	return fmt.Errorf("malformed verdict: code %d", b[0])
}

// Accept is the other half of Dial, for the side that accepted conn. It returns
// what the peer said about itself once it has proven to hold the key and check,
// unless it is nil, has found nothing wrong. What check returns as an error is
// told to the peer, which holds the key; strangers are told nothing but "no".
//
// It blocks for at most 10 s, needs a fixed amount of memory, and reads not one
// byte more than the handshake. After an error the caller closes conn.
func Accept(conn net.Conn, k Key, check func(Hello) error) (Hello, error) {
	var h Hello
	err := within(conn, func() (err error) {
		h, err = accept(conn, k, check, nextPlain)
		return err
	})
	return h, err
}

func accept(conn net.Conn, k Key, check func(Hello) error, next byte) (Hello, error) {
	var t transcript
	if _, err := io.ReadFull(conn, t.opening[:]); err != nil {
		return Hello{}, explain(err)
	}
	h, its, err := getHello(&t.opening)
	if err != nil {
		if !errors.Is(err, errNoHandshake) {
			refuse(conn, codeBadHello)
		}
		return Hello{}, err
	}
	if err := t.bind(conn); err != nil {
		return Hello{}, err
	}
	copy(t.challenge[:], magic)
	rand.Read(t.challenge[len(magic):]) // never returns an error
	if _, err := conn.Write(t.challenge[:]); err != nil {
		return Hello{}, explain(err)
	}
	var proof [macSize]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return Hello{}, explain(err)
	}
	if !hmac.Equal(proof[:], t.mac(k, "dial")) {
		refuse(conn, codeBadProof)
		return Hello{}, errors.New("it has another key: a stranger, a replay, or a rank of another job")
	}
	return h, decide(conn, k, &t, h, func(h Hello) error {
		if its != next {
			return errors.New("one side of the connection uses TLS and the other does not: set GASPI_TLS=1 for all ranks, or for none")
		}
		if check == nil {
			return nil
		}
		return check(h)
	})
}

// decide tells a peer that holds the key whether it is welcome.
func decide(conn net.Conn, k Key, t *transcript, h Hello, check func(Hello) error) error {
	refusal := check(h)
	b := make([]byte, verdictSize, verdictSize+maxText)
	b[0] = codeWelcome
	if refusal != nil {
		text := strings.ToValidUTF8(refusal.Error()[:min(len(refusal.Error()), maxText)], "")
		b[0] = codeRefused
		binary.LittleEndian.PutUint16(b[2:], uint16(len(text)))
		b = append(b, text...)
	}
	copy(b[4:], t.mac(k, "accept", b[:4], b[verdictSize:]))
	if _, err := conn.Write(b); err != nil {
		return explain(err)
	}
	if refusal != nil {
		return fmt.Errorf("%s from %d to %d of job %s: %w", h.Role, h.From, h.To, h.Job, refusal)
	}
	return nil
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

// refuse sends a verdict to a stranger; if it does not arrive, nothing is lost.
func refuse(conn net.Conn, code byte) {
	var b [verdictSize]byte
	b[0] = code
	conn.Write(b[:])
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

package auth

import (
	"crypto/hmac"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Client proves to the other side of conn that this side belongs to the job, and
// makes it prove the same. It is for the side that connected; the other one runs a
// [Gate]. It reads not one byte more than the handshake.
//
// It returns the connection to use from then on. With secure, that is TLS with these
// settings: the handshake comes first so that strangers never reach the TLS code, and
// comes again inside, where it is tied to that very TLS connection. Without, a session
// and an agent get a [Sealed], and a lane gets conn itself.
//
// It blocks for at most 10 s; the deadline of conn is replaced and finally removed.
// The error matches ErrRefused or ErrUnproven, or says what was wrong with the
// connection, which is then of no more use; the caller closes conn.
func Client(conn net.Conn, c Credentials, me Hello, secure *tls.Config) (inner net.Conn, err error) {
	err = within(conn, func() error {
		inner, err = client(conn, c, me, secure)
		return err
	})
	return inner, err
}

func client(conn net.Conn, c Credentials, me Hello, secure *tls.Config) (net.Conn, error) {
	if secure == nil {
		return dial(conn, c, me, me.next())
	}
	if _, err := dial(conn, c, me, nextTLS); err != nil {
		return nil, err
	}
	return dial(tls.Client(conn, secure), c, me, nextPlain)
}

func dial(conn net.Conn, c Credentials, me Hello, next byte) (net.Conn, error) {
	var t transcript
	if err := putHello(&t.opening, me, next, c.Identity != nil); err != nil {
		return nil, err
	}
	if err := t.bind(conn); err != nil {
		return nil, err
	}
	copy(t.opening[shareAt:], t.share())
	if _, err := conn.Write(t.opening[:]); err != nil {
		return nil, err
	}
	if err := readChallenge(conn, &t); err != nil {
		return nil, err
	}
	shown := c.Identity.show(&t, "dial")
	if _, err := conn.Write(append(t.mac(c.Key, "dial", shown), shown...)); err != nil {
		return nil, explain(err)
	}
	if err := readVerdict(conn, c, &t, me.wanted()); err != nil {
		return nil, err
	}
	if next != nextSealed {
		return conn, nil
	}
	return seal(conn, c.Key, &t, t.challenge[len(magic):], "dial", "accept")
}

// readChallenge reads the challenge, in whose place a refusal may stand.
func readChallenge(conn net.Conn, t *transcript) error {
	if _, err := io.ReadFull(conn, t.challenge[:verdictSize]); err != nil {
		return explain(err)
	}
	if t.challenge[0] == codeBadHello && [macSize]byte(t.challenge[4:]) == [macSize]byte{} {
		return fmt.Errorf("%w: it does not understand the first message: is it of another version?", ErrUnproven)
	}
	if err := checkMagic(t.challenge[:len(magic)]); err != nil {
		return fmt.Errorf("%w: %w", ErrUnproven, err)
	}
	if _, err := io.ReadFull(conn, t.challenge[verdictSize:]); err != nil {
		return explain(err)
	}
	return nil
}

// readVerdict reads what the other side decided. It is believed once its mac is right
// and it has been said by whom this side wants to reach.
func readVerdict(conn net.Conn, c Credentials, t *transcript, wanted subject) error {
	var b [verdictSize + maxText + shownSize]byte
	if _, err := io.ReadFull(conn, b[:verdictSize]); err != nil {
		return explain(err)
	}
	if b[0] == codeBadProof {
		return fmt.Errorf("%w: it has another key: is it of another job?", ErrUnproven)
	}
	n := int(binary.LittleEndian.Uint16(b[2:]))
	if n > maxText || b[1] > 1 {
		return fmt.Errorf("%w: malformed verdict: a text of %d bytes, mark %d", ErrUnproven, n, b[1])
	}
	rest := b[verdictSize : verdictSize+n+int(b[1])*shownSize]
	if _, err := io.ReadFull(conn, rest); err != nil {
		return explain(err)
	}
	if !hmac.Equal(b[4:verdictSize], t.mac(c.Key, "accept", b[:4], rest)) {
		return fmt.Errorf("%w: it could not prove that it holds the key", ErrUnproven)
	}
	text, shown := rest[:n], rest[n:]
	// Only who has an identity insists on one: without, the other side says why not.
	if c.Identity != nil {
		if err := c.Identity.verify(shown, wanted, t, "accept"); err != nil {
			return fmt.Errorf("%w: %w", ErrUnproven, err)
		}
	}
	switch b[0] {
	case codeWelcome:
		return nil
	case codeRefused:
		return fmt.Errorf("%w: %s", ErrRefused, text)
	}
	return fmt.Errorf("%w: malformed verdict: code %d", ErrUnproven, b[0])
}

package auth

import (
	"crypto/hmac"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// server is the other half of Client, within whatever limits conn has. spoke, unless it
// is nil, is called when the peer has said who it wants to be. It returns that once the
// peer has proven it, and c.Check has found nothing wrong; what that returns as an error
// is told to the peer, which holds the key, while strangers are told nothing but "no".
//
// It needs a fixed amount of memory, and reads not one byte more than the handshake.
func server(conn net.Conn, c GateConfig, spoke func()) (net.Conn, Hello, error) {
	if c.TLS == nil {
		return accept(conn, c, Hello.next, spoke)
	}
	_, h, err := accept(conn, c, func(Hello) byte { return nextTLS }, spoke)
	if err != nil {
		return nil, h, err
	}
	c.Check = func(again Hello) error {
		if again != h {
			return errors.New("it said something else about itself before TLS")
		}
		return nil
	}
	secured, _, err := accept(tls.Server(conn, c.TLS), c, func(Hello) byte { return nextPlain }, nil)
	return secured, h, err
}

// accept runs one handshake, after which the connection is what next says.
func accept(conn net.Conn, c GateConfig, next func(Hello) byte, spoke func()) (net.Conn, Hello, error) {
	var t transcript
	if err := t.bind(conn); err != nil {
		return nil, Hello{}, err
	}
	if _, err := io.ReadFull(conn, t.opening[:]); err != nil {
		return nil, Hello{}, explain(err)
	}
	h, its, shows, err := getHello(&t.opening)
	if err != nil {
		if !errors.Is(err, errNoHandshake) {
			refuse(conn, codeBadHello)
		}
		return nil, Hello{}, err
	}
	if spoke != nil {
		spoke()
	}
	copy(t.challenge[:], magic)
	copy(t.challenge[len(magic):], t.share())
	if _, err := conn.Write(t.challenge[:]); err != nil {
		return nil, Hello{}, explain(err)
	}
	shown, err := readProof(conn, c.Key, &t, shows)
	if err != nil {
		return nil, Hello{}, err
	}
	err = decide(conn, c, &t, h, func() error {
		if its != next(h) {
			return errors.New("one side of the connection uses TLS and the other does not: set GASPI_TLS=1 for all ranks, or for none")
		}
		if err := c.Identity.check(shown, h.claimed(), &t, "dial"); err != nil {
			return err
		}
		if c.Check == nil {
			return nil
		}
		return c.Check(h)
	})
	if err != nil || its != nextSealed {
		return conn, h, err
	}
	sealed, err := seal(conn, c.Key, &t, t.opening[shareAt:], "accept", "dial")
	return sealed, h, err
}

// readProof reads the proof, checks that the peer holds the key, and returns what it
// shows of its identity, which is nothing unless shows.
func readProof(conn net.Conn, k Key, t *transcript, shows bool) ([]byte, error) {
	var proof [macSize + shownSize]byte
	size := macSize
	if shows {
		size = len(proof)
	}
	if _, err := io.ReadFull(conn, proof[:size]); err != nil {
		return nil, explain(err)
	}
	shown := proof[macSize:size]
	if !hmac.Equal(proof[:macSize], t.mac(k, "dial", shown)) {
		refuse(conn, codeBadProof)
		return nil, errors.New("it has another key: a stranger, a replay, or a rank of another job")
	}
	return shown, nil
}

// decide tells a peer that holds the key whether it is welcome.
func decide(conn net.Conn, c GateConfig, t *transcript, h Hello, check func() error) error {
	refusal := check()
	b := make([]byte, verdictSize, verdictSize+maxText+shownSize)
	b[0] = codeWelcome
	if refusal != nil {
		text := strings.ToValidUTF8(refusal.Error()[:min(len(refusal.Error()), maxText)], "")
		b[0] = codeRefused
		binary.LittleEndian.PutUint16(b[2:], uint16(len(text)))
		b = append(b, text...)
	}
	if c.Identity != nil {
		b[1] = 1
		b = append(b, c.Identity.show(t, "accept")...)
	}
	copy(b[4:], t.mac(c.Key, "accept", b[:4], b[verdictSize:]))
	if _, err := conn.Write(b); err != nil {
		return explain(err)
	}
	if refusal != nil {
		return fmt.Errorf("%s from %d to %d of job %s: %w", h.Role, h.From, h.To, h.Job, refusal)
	}
	return nil
}

// refuse sends a verdict to a stranger; if it does not arrive, nothing is lost.
func refuse(conn net.Conn, code byte) {
	var b [verdictSize]byte
	b[0] = code
	conn.Write(b[:])
}

// Package auth decides who may speak to a rank: whoever proves, on the open
// connection, that he holds the key of the job, and nobody else.
//
// It knows no ranks, no frames and no rendezvous: it is given a connection and
// either lets it pass or says why not. Package boot, the launcher and the
// transports call it on every connection before they read anything else.
// Connections that control a job are encrypted and authenticated from then on. Data between
// ranks is not without TLS: somebody on the path can read and change it.
package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A Key is the secret of one job: 256 random bits. It does not print: every
// verb of package fmt, and encoding/json, give a placeholder.
type Key [32]byte

// NewKey returns a key that no other job has.
func NewKey() Key {
	var k Key
	rand.Read(k[:]) // never returns an error
	return k
}

// ParseKey reads what Text returned; white space around it is ignored. Its
// errors do not contain any of s.
func ParseKey(s string) (Key, error) {
	b, err := hex.DecodeString(strings.TrimSpace(s))
	if err != nil || len(b) != len(Key{}) {
		return Key{}, fmt.Errorf("a job key is %d hexadecimal digits; this text of %d bytes is none", 2*len(Key{}), len(s))
	}
	k := Key(b)
	if k == (Key{}) {
		return Key{}, errors.New("the job key is all zeros: make a random one, such as with: openssl rand -hex 32")
	}
	return k, nil
}

// Text returns the key as 64 hexadecimal digits. It is for a pipe, a descriptor
// or a file that only the user can read; never for a log, an argument or a
// variable of the environment.
func (k Key) Text() string { return hex.EncodeToString(k[:]) }

const hidden = "key(hidden)"

// String hides the key.
func (k Key) String() string { return hidden }

// Format hides the key from every verb of package fmt.
func (k Key) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) }

// MarshalText hides the key from encoders such as encoding/json.
func (k Key) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// derive returns n bytes that only holders of the key can compute, and from
// which the key cannot be found. Different purposes give unrelated bytes.
func (k Key) derive(purpose string, n int) []byte {
	out, err := hkdf.Key(sha256.New, k[:], nil, "gaspi-go "+purpose, n)
	if err != nil {
		panic("auth: hkdf refuses a length that is a constant: " + err.Error())
	}
	return out
}

// JobID returns an id for a job of which only the key is given: 32 hexadecimal
// digits, equal for all holders of the key, that say nothing about it.
func (k Key) JobID() string { return hex.EncodeToString(k.derive("job id", 16)) }

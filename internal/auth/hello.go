package auth

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Role says what a connection is for. A listener serves one or two roles and
// refuses the others.
type Role uint8

// The roles. Their numbers are on the wire.
const (
	RoleLane    Role = 1 // rank to rank: carries data
	RoleSession Role = 2 // rank to rendezvous
	RoleAgent   Role = 3 // agent of a host to the launcher
)

// String names the role.
func (r Role) String() string {
	switch r {
	case RoleLane:
		return "lane"
	case RoleSession:
		return "session"
	case RoleAgent:
		return "agent"
	}
	return fmt.Sprintf("role %d", uint8(r))
}

// A Hello is what the side that connects says about itself. Once the handshake
// is over, both sides know that the other has the same key and saw the same
// Hello.
type Hello struct {
	Role    Role
	Job     string // 1 to MaxJob bytes: letters, digits and '-'
	From    int32  // rank, or number of the host for an agent, that connects
	To      int32  // rank that it wants to reach; 0 where there is no choice
	Lane    uint16 // which of several connections between the two
	Version uint16 // of the protocol that follows the handshake
}

// MaxJob is how many bytes a job id may have.
const MaxJob = 64

// The opening is the first message of a connection, 120 bytes, numbers in
// little endian:
//
//	| 0 magic, 8 | 8 role | 9 length of job | 10 lane, 2 | 12 version, 2 | 14 next | 15 shows |
//	| 16 from, 4 | 20 to, 4 | 24 job, padded with zeros, 64 | 88 share, 32 |
const (
	magic       = "GASPIGO\x02" // the last byte is the version of the handshake
	shareSize   = 32
	helloAt     = len(magic)
	nextAt      = 14
	showsAt     = 15
	jobAt       = 24
	shareAt     = jobAt + MaxJob
	openingSize = shareAt + shareSize
)

// Protocols that follow the handshake, as the side that connects has chosen. Sides that
// disagree get an error, instead of waiting for each other.
const (
	nextPlain  = 0
	nextTLS    = 1
	nextSealed = 2 // records, see sealed.go
)

// next is what follows the handshake where there is no TLS. Connections that control a job are
// sealed; data is not.
func (h Hello) next() byte {
	if h.Role == RoleLane {
		return nextPlain
	}
	return nextSealed
}

// errNoHandshake says that the peer speaks something else.
var errNoHandshake = errors.New("it does not speak this protocol")

// putHello writes h, what comes next, and whether this side shows an identity, into an
// opening.
func putHello(b *[openingSize]byte, h Hello, next byte, shows bool) error {
	if err := h.check(); err != nil {
		return err
	}
	clear(b[:shareAt])
	copy(b[:], magic)
	b[helloAt] = byte(h.Role)
	b[9] = byte(len(h.Job))
	binary.LittleEndian.PutUint16(b[10:], h.Lane)
	binary.LittleEndian.PutUint16(b[12:], h.Version)
	binary.LittleEndian.PutUint32(b[16:], uint32(h.From))
	binary.LittleEndian.PutUint32(b[20:], uint32(h.To))
	b[nextAt] = next
	if shows {
		b[showsAt] = 1
	}
	copy(b[jobAt:shareAt], h.Job)
	return nil
}

// getHello reads an opening. It accepts exactly what putHello writes.
func getHello(b *[openingSize]byte) (h Hello, next byte, shows bool, err error) {
	if err := checkMagic(b[:helloAt]); err != nil {
		return Hello{}, 0, false, err
	}
	n := int(b[9])
	if n > MaxJob {
		return Hello{}, 0, false, fmt.Errorf("malformed hello: a job id of %d bytes", n)
	}
	h = Hello{
		Role:    Role(b[helloAt]),
		Job:     string(b[jobAt : jobAt+n]),
		From:    int32(binary.LittleEndian.Uint32(b[16:])),
		To:      int32(binary.LittleEndian.Uint32(b[20:])),
		Lane:    binary.LittleEndian.Uint16(b[10:]),
		Version: binary.LittleEndian.Uint16(b[12:]),
	}
	if err := h.check(); err != nil {
		return Hello{}, 0, false, fmt.Errorf("malformed hello: %w", err)
	}
	next, shows = b[nextAt], b[showsAt] == 1
	var again [openingSize]byte
	putHello(&again, h, next, shows)
	if next > nextSealed || [shareAt]byte(again[:shareAt]) != [shareAt]byte(b[:shareAt]) {
		return Hello{}, 0, false, errors.New("malformed hello: bytes are set that mean nothing")
	}
	return h, next, shows, nil
}

func checkMagic(b []byte) error {
	last := len(magic) - 1
	if string(b[:last]) != magic[:last] {
		return errNoHandshake
	}
	if b[last] != magic[last] {
		return fmt.Errorf("it speaks version %d of the handshake and this side version %d: build all ranks from the same version of the module", b[last], magic[last])
	}
	return nil
}

// check refuses what has no encoding.
func (h Hello) check() error {
	if h.Role < RoleLane || h.Role > RoleAgent {
		return fmt.Errorf("no such role: %d", uint8(h.Role))
	}
	if h.From < 0 || h.To < 0 {
		return fmt.Errorf("negative rank: from %d to %d", h.From, h.To)
	}
	if h.Job == "" || len(h.Job) > MaxJob {
		return fmt.Errorf("a job id of %d bytes; it has 1 to %d", len(h.Job), MaxJob)
	}
	for i := range len(h.Job) {
		c := h.Job[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return fmt.Errorf("a job id with the character %q; only letters, digits and '-' are allowed", c)
		}
	}
	return nil
}

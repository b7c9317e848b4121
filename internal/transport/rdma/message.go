package rdma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Messages are 64 bytes, little endian, which every provider takes at once:
//
//	| secret 8 | kind 1 | code 1 | pages 2 | from 4 | number 4 | segment 4 | generation 8 | a 8 | b 8 | c 8 | d 8 |
//
// The secret is the receiver's. Only the ranks of its job know it.
const messageSize = 64

type messageKind uint8

const (
	kindAttach    messageKind = iota + 1 // requests the descriptor of a segment
	kindAttached                         // a size, b notifications and first flag << 32, c base, d key, pages of flags
	kindRefused                          // code is a remote.Refusal
	kindWithdrawn                        // the segment was withdrawn
	kindReleased                         // reply to kindWithdrawn: no operation of this side on the segment is under way
	kindNotify                           // a id and value << 32; code 1 adds
	kindAtomic                           // code operation, a operand, b compare, c offset
	kindResult                           // a is the old value
	kindFlush                            // requests a reply once all earlier messages and writes have arrived
	kindBye                              // this rank closes
	kindByeAck
	kindLast = kindByeAck
)

type message struct {
	secret     uint64
	kind       messageKind
	code       uint8
	pages      uint16
	from       uint32
	number     uint32
	segment    uint32
	generation uint64
	a, b, c, d uint64
}

func (m *message) put(to *[messageSize]byte) {
	le := binary.LittleEndian
	le.PutUint64(to[0:], m.secret)
	to[8], to[9] = byte(m.kind), m.code
	le.PutUint16(to[10:], m.pages)
	le.PutUint32(to[12:], m.from)
	le.PutUint32(to[16:], m.number)
	le.PutUint32(to[20:], m.segment)
	le.PutUint64(to[24:], m.generation)
	le.PutUint64(to[32:], m.a)
	le.PutUint64(to[40:], m.b)
	le.PutUint64(to[48:], m.c)
	le.PutUint64(to[56:], m.d)
}

var errBadSecret = errors.New("a message without this rank's secret")

// parse reads a message that was sent to the owner of secret by one of size ranks.
func (m *message) parse(raw *[messageSize]byte, secret uint64, size int) error {
	le := binary.LittleEndian
	*m = message{
		secret: le.Uint64(raw[0:]), kind: messageKind(raw[8]), code: raw[9], pages: le.Uint16(raw[10:]),
		from: le.Uint32(raw[12:]), number: le.Uint32(raw[16:]), segment: le.Uint32(raw[20:]),
		generation: le.Uint64(raw[24:]),
		a:          le.Uint64(raw[32:]), b: le.Uint64(raw[40:]), c: le.Uint64(raw[48:]), d: le.Uint64(raw[56:]),
	}
	switch {
	case m.secret != secret:
		return errBadSecret
	case m.kind == 0 || m.kind > kindLast:
		return fmt.Errorf("a message of kind %d", m.kind)
	case uint64(m.from) >= uint64(size):
		return fmt.Errorf("a message of rank %d of %d", m.from, size)
	}
	return nil
}

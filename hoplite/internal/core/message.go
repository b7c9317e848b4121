package core

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is how many bytes of a message have a fixed place. ID and Payload follow.
const HeaderSize = 184

// MaxID is the longest id in bytes.
const MaxID = 1024

// MaxRanks is how many locations a Located carries.
const MaxRanks = 8

// A Message is one message of any kind, as ranks exchange it. The struct of its kind, say a
// Pull, writes one with its method message, and the method of the kind's name reads it. A
// Message is a value without a pointer to a struct of its kind, so that none is allocated.
// It is bounded: all fields but ID and Payload are of fixed size, and Payload has at most
// Config.Inline bytes.
type Message struct {
	head [HeaderSize]byte // without the lengths, which Append adds
	// ID is the object that the message is about, "" if it is about none.
	ID string
	// Payload is an object's bytes. The receiver owns it.
	Payload []byte
}

// Kind is the kind of the message.
func (m *Message) Kind() Kind { return Kind(m.head[atKind]) }

// Append writes m to b. It borrows m.Payload until it returns.
//
//	| kind code flags ins | op | rank slot | seq gen token sum size from off ref copy own | stream | ins | ranks | lengths | id | payload |
func (m *Message) Append(b []byte) []byte {
	b = append(b, m.head[:atLengths]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.ID)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.Payload)))
	b = append(b, m.ID...)
	return append(b, m.Payload...)
}

// Decode reads a message that Append wrote and nothing else. Payload is a copy. It refuses
// what could not have been written, so that a peer of another version is an error.
func Decode(b []byte) (Message, error) {
	var m Message
	if len(b) < HeaderSize {
		return m, fmt.Errorf("hoplite: a message of %d bytes, at least %d expected: all ranks must run the same version", len(b), HeaderSize)
	}
	copy(m.head[:atLengths], b)
	rest := b[HeaderSize:]
	id, size := int(binary.LittleEndian.Uint32(b[atLengths:])), int(binary.LittleEndian.Uint32(b[atLengths+4:]))
	kind, ins, ranks := m.Kind(), b[atNumIns], b[atNumRanks]
	switch {
	case kind == KindNone || kind >= kinds || b[6] != 0 || b[7] != 0:
		return m, fmt.Errorf("hoplite: a message of unknown kind %d: all ranks must run the same version", b[0])
	case ins > maxIns || ranks > MaxRanks || b[atNumComplete] > ranks:
		return m, fmt.Errorf("hoplite: a message of kind %d with %d inputs and %d ranks", kind, ins, ranks)
	case id > MaxID || id > len(rest) || len(rest)-id != size:
		return m, fmt.Errorf("hoplite: a message of kind %d whose id has %d bytes and data %d, of %d", kind, id, size, len(rest))
	case negative(b[atSize:]) || negative(b[atFrom:]) || negative(b[atOff:]):
		return m, fmt.Errorf("hoplite: a message of kind %d with a negative size or offset", kind)
	}
	m.ID = string(rest[:id])
	if size > 0 {
		m.Payload = append([]byte(nil), rest[id:]...)
	}
	return m, nil
}

// negative reports whether b begins with a number below 0 of 64 bits.
func negative(b []byte) bool { return int64(binary.LittleEndian.Uint64(b)) < 0 }

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
// Config.Inline bytes, or 12 for each operand of a Share.
type Message struct {
	head [HeaderSize]byte // without the lengths, which Append adds
	// ID is the object that the message is about, "" if it is about none.
	ID string
	// Payload is an object's bytes, or operands. The receiver owns it.
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

// Places of fields in the header of a message, in bytes. A field has the same place in all
// kinds that have it; what a kind does not have is 0.
const (
	atKind        = 0
	atCode        = 1
	atFlags       = 2
	atNumIns      = 3
	atNumRanks    = 4
	atNumComplete = 5
	atOp          = 8
	atRank        = 12
	atSlot        = 16
	atOwner       = 20 // of the stream
	atSeq         = 24
	atGen         = 32
	atToken       = 40
	atSum         = 48
	atSize        = 56
	atFrom        = 64
	atOff         = 72
	atRef         = 80
	atCopy        = 88
	atOwn         = 96
	atReduce      = 104 // of the stream
	atPosition    = 112 // of the stream
	atAttempt     = 116 // of the stream
	atIns         = 120
	atRanks       = atIns + maxIns*inSize
	atLengths     = atRanks + MaxRanks*4 // of id and payload

	maxIns = 2
	inSize = 12
)

// The header ends with the two lengths.
const (
	_ = uint(HeaderSize - (atLengths + 8))
	_ = uint(atLengths + 8 - HeaderSize)
)

// Flags in the header. A flag has one meaning in each kind: the field of its struct.
const (
	flagComplete uint8 = 1 << iota
	flagOrigin
	flagPinned
	flagRemove
	flagLost
	flagOnce
	flagStale
	flagKeep
)

// flagLend marks a Pull that asks for a loan, flagBorrow one whose receiver will have no copy. A Pull has no other flags.
const (
	flagLend   = flagComplete
	flagBorrow = flagOrigin
)

// flagTwice marks a Share whose result belongs into two stores. A Share has no other flag.
const flagTwice = flagComplete

// fields carries the fields of a struct to a message, or from it: the list of fields of a kind
// is written once. Each method takes the place of a field and the field.
type fields struct {
	m     *Message
	write bool
}

// begin makes m a message of a kind, whose fields are to be written.
func (m *Message) begin(k Kind) fields {
	m.head[atKind] = byte(k)
	return fields{m, true}
}

// reader returns what reads the fields of m.
func (m *Message) reader() fields { return fields{m, false} }

func (f fields) u64(at int, p *uint64) {
	if f.write {
		binary.LittleEndian.PutUint64(f.m.head[at:], *p)
	} else {
		*p = binary.LittleEndian.Uint64(f.m.head[at:])
	}
}

func (f fields) i64(at int, p *int64) {
	v := uint64(*p)
	f.u64(at, &v)
	*p = int64(v)
}

func (f fields) u32(at int, p *uint32) {
	if f.write {
		binary.LittleEndian.PutUint32(f.m.head[at:], *p)
	} else {
		*p = binary.LittleEndian.Uint32(f.m.head[at:])
	}
}

func (f fields) rank(at int, p *Rank) {
	v := uint32(*p)
	f.u32(at, &v)
	*p = Rank(v)
}

func (f fields) u8(at int, p *uint8) {
	if f.write {
		f.m.head[at] = *p
	} else {
		*p = f.m.head[at]
	}
}

func (f fields) code(p *Code) { f.u8(atCode, (*uint8)(p)) }

func (f fields) flag(bit uint8, p *bool) {
	if !f.write {
		*p = f.m.head[atFlags]&bit != 0
	} else if *p {
		f.m.head[atFlags] |= bit
	}
}

func (f fields) id(p *string) {
	if f.write {
		f.m.ID = *p
	} else {
		*p = f.m.ID
	}
}

func (f fields) payload(p *[]byte) {
	if f.write {
		f.m.Payload = *p
	} else {
		*p = f.m.Payload
	}
}

func (f fields) stream(s *Stream) {
	f.rank(atOwner, &s.Owner)
	f.u64(atReduce, &s.Reduce)
	f.u32(atPosition, &s.Position)
	f.u32(atAttempt, &s.Attempt)
}

func (f fields) in(i int, in *In) {
	at := atIns + i*inSize
	f.rank(at, &in.Rank)
	f.u32(at+4, &in.Position)
	f.u32(at+8, &in.Attempt)
}

package core

import "encoding/binary"

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

// flagLend marks a Pull that asks for a loan. A Pull has no other flag.
const flagLend = flagComplete

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

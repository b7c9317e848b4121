package core

import (
	"encoding/binary"
	"fmt"
)

// HeaderSize is how many bytes of a message have a fixed place. ID and Data follow.
const HeaderSize = 184

// MaxID is the longest id in bytes.
const MaxID = 1024

// Append writes m to b. It borrows m.Data until it returns.
//
//	| kind code flags ins | op | rank slot | seq gen token sum size from off ref copy own | stream | ins | ranks | lengths | id | data |
func (m *Message) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, byte(m.Kind), byte(m.Code), m.Flags, m.NumIns, m.NumRanks, m.NumComplete, 0, 0)
	b = le.AppendUint32(b, m.Op)
	b = le.AppendUint32(b, uint32(m.Rank))
	b = le.AppendUint32(b, m.Slot)
	b = le.AppendUint32(b, uint32(m.Stream.Owner))
	for _, v := range [...]uint64{m.Seq, m.Gen, m.Token, m.Sum, uint64(m.Size), uint64(m.From), uint64(m.Off), m.Ref, m.Copy, m.Own, m.Stream.Reduce} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, m.Stream.Position)
	b = le.AppendUint32(b, m.Stream.Attempt)
	for _, in := range m.Ins {
		b = le.AppendUint32(b, uint32(in.Rank))
		b = le.AppendUint32(b, in.Position)
		b = le.AppendUint32(b, in.Attempt)
	}
	for _, r := range m.Ranks {
		b = le.AppendUint32(b, uint32(r))
	}
	b = le.AppendUint32(b, uint32(len(m.ID)))
	b = le.AppendUint32(b, uint32(len(m.Data)))
	b = append(b, m.ID...)
	return append(b, m.Data...)
}

// A reader takes fields off the front of a slice that is long enough.
type reader struct{ b []byte }

func (r *reader) u32() uint32 {
	v := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *reader) u64() uint64 {
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *reader) i64() int64 { return int64(r.u64()) }

// Decode reads a message that Append wrote and nothing else. Data is a copy. It refuses
// what could not have been written, so that a peer of another version is an error.
func Decode(b []byte) (Message, error) {
	var m Message
	if len(b) < HeaderSize {
		return m, fmt.Errorf("hoplite: a message of %d bytes, at least %d expected: all ranks must run the same version", len(b), HeaderSize)
	}
	m.Kind, m.Code, m.Flags, m.NumIns, m.NumRanks, m.NumComplete = Kind(b[0]), Code(b[1]), b[2], b[3], b[4], b[5]
	r := reader{b[8:]}
	m.Op, m.Rank, m.Slot, m.Stream.Owner = r.u32(), Rank(r.u32()), r.u32(), Rank(r.u32())
	m.Seq, m.Gen, m.Token, m.Sum = r.u64(), r.u64(), r.u64(), r.u64()
	m.Size, m.From, m.Off, m.Ref = r.i64(), r.i64(), r.i64(), r.u64()
	m.Copy, m.Own = r.u64(), r.u64()
	m.Stream.Reduce, m.Stream.Position, m.Stream.Attempt = r.u64(), r.u32(), r.u32()
	for i := range m.Ins {
		m.Ins[i] = In{Rank(r.u32()), r.u32(), r.u32()}
	}
	for i := range m.Ranks {
		m.Ranks[i] = Rank(r.u32())
	}
	id, data := int(r.u32()), int(r.u32())
	switch {
	case m.Kind == KindNone || m.Kind >= kinds || b[6] != 0 || b[7] != 0:
		return m, fmt.Errorf("hoplite: a message of unknown kind %d: all ranks must run the same version", b[0])
	case int(m.NumIns) > len(m.Ins) || int(m.NumRanks) > MaxRanks || m.NumComplete > m.NumRanks:
		return m, fmt.Errorf("hoplite: a message of kind %d with %d inputs and %d ranks", m.Kind, m.NumIns, m.NumRanks)
	case id > MaxID || id > len(r.b) || len(r.b)-id != data:
		return m, fmt.Errorf("hoplite: a message of kind %d whose id has %d bytes and data %d, of %d", m.Kind, id, data, len(r.b))
	case m.Size < 0 || m.From < 0 || m.Off < 0:
		return m, fmt.Errorf("hoplite: a message of kind %d with a negative size or offset", m.Kind)
	}
	m.ID = string(r.b[:id])
	if data > 0 {
		m.Data = append([]byte(nil), r.b[id:]...)
	}
	return m, nil
}

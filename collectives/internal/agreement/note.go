package agreement

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// A Note is what one member says of one call: its number, who calls, and what, as
// text. It travels as bytes.
//
//	| checksum: 8 bytes | number of the call + 1: 8 | signature: 8 | meetings: 8 | member: 4 | length of the text: 4 | text: 160 |
type Note struct {
	Call      uint64
	Signature uint64 // equal only for calls that match
	Meetings  uint64 // calls for which all members wait that this one has ended when it says so
	Member    int
	Text      string // longer ones are cut when they travel
}

const (
	noteSize = 200
	noteText = noteSize - 40
	pairSize = 2 * noteSize
)

// put writes the note into b.
func (n Note) put(b []byte) {
	le := binary.LittleEndian
	b = b[:noteSize]
	clear(b)
	le.PutUint64(b[8:], n.Call+1)
	le.PutUint64(b[16:], n.Signature)
	le.PutUint64(b[24:], n.Meetings)
	le.PutUint32(b[32:], uint32(n.Member))
	le.PutUint32(b[36:], uint32(copy(b[40:], n.Text)))
	le.PutUint64(b, checksum(b[8:]))
}

// noteIn returns the note in b, or false if there is none, or only part of one.
func noteIn(b []byte) (Note, bool) {
	le := binary.LittleEndian
	b = slices.Clone(b[:noteSize])
	length := le.Uint32(b[36:])
	if le.Uint64(b[8:]) == 0 || le.Uint64(b) != checksum(b[8:]) || length > noteText {
		return Note{}, false
	}
	return Note{
		Call: le.Uint64(b[8:]) - 1, Signature: le.Uint64(b[16:]), Meetings: le.Uint64(b[24:]),
		Member: int(le.Uint32(b[32:])), Text: string(b[40 : 40+length]),
	}, true
}

// pairIn returns the two notes in b, and false if there are none.
func pairIn(b []byte) (x, y Note, ok bool) {
	x, ok = noteIn(b)
	y, too := noteIn(b[noteSize:])
	return x, y, ok && too
}

// putRow writes notes, at most Window of them, into row, and clears the rest of it.
func putRow(row []byte, notes []Note) {
	for i, n := range notes {
		n.put(row[i*noteSize:])
	}
	clear(row[len(notes)*noteSize:])
}

func checksum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b) // never fails
	return h.Sum64()
}

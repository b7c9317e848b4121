package collectives

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A note is what one member says of one call: its number, who calls, and what, as
// text. It travels as bytes.
//
//	| checksum: 8 bytes | number of the call + 1: 8 | signature: 8 | member: 4 | length of the text: 4 | text: 160 |
type note struct {
	call      uint64
	signature uint64
	member    int
	text      string
}

const (
	noteSize    = 192
	noteText    = noteSize - 32
	messageSize = 2 * noteSize
)

// put writes the note into b.
func (n note) put(b []byte) {
	le := binary.LittleEndian
	b = b[:noteSize]
	clear(b)
	le.PutUint64(b[8:], n.call+1)
	le.PutUint64(b[16:], n.signature)
	le.PutUint32(b[24:], uint32(n.member))
	le.PutUint32(b[28:], uint32(copy(b[32:], n.text)))
	le.PutUint64(b, checksum(b[8:]))
}

// noteIn returns the note in b, or false if there is none, or only part of one.
func noteIn(b []byte) (note, bool) {
	le := binary.LittleEndian
	b = slices.Clone(b[:noteSize])
	length := le.Uint32(b[28:])
	if le.Uint64(b[8:]) == 0 || le.Uint64(b) != checksum(b[8:]) || length > noteText {
		return note{}, false
	}
	return note{
		call: le.Uint64(b[8:]) - 1, signature: le.Uint64(b[16:]),
		member: int(le.Uint32(b[24:])), text: string(b[32 : 32+length]),
	}, true
}

func checksum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b) // never fails
	return h.Sum64()
}

// differ is the error of two notes of one call that do not match.
func (t *Team) differ(a, b note) error {
	if b.member < a.member {
		a, b = b, a
	}
	other := ""
	if a.text == b.text {
		other = " of other block sizes or options, or after other plans"
	}
	return fmt.Errorf("%w: rank %d called %s and rank %d called %s%s as call %d of the team, which is unusable until Reset",
		gaspi.ErrMismatch, t.rankOf(a.member), a.text, t.rankOf(b.member), b.text, other, a.call+1)
}

// rankOf is the rank of the job of a member that somebody else named.
func (t *Team) rankOf(member int) int {
	if member < 0 || member >= len(t.ranks) {
		return -1
	}
	return int(t.ranks[member])
}

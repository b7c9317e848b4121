package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// headSize is the number of bytes of a header: one cache line.
const headSize = 64

// lengthMost bounds transfers: as large as a segment can be.
const lengthMost = 1 << 46

// A kind says what a frame is. The numbers are on the wire.
type kind uint8

const (
	kindPut       kind = 1  // bytes for a segment, with or without a notification
	kindNotify    kind = 2  // a notification alone
	kindGet       kind = 3  // asks for bytes of a segment
	kindData      kind = 4  // bytes of an answer to kindGet
	kindAtomic    kind = 5  // asks for an atomic operation
	kindFlush     kind = 6  // asks whether all frames before it have been dealt with
	kindAttach    kind = 7  // asks what a segment is like
	kindResult    kind = 8  // answer to kindAtomic and kindFlush
	kindAttached  kind = 9  // answer to kindAttach
	kindRefused   kind = 10 // says that a frame was not obeyed
	kindWithdrawn kind = 11 // says that a segment is no more
	kindBye       kind = 12 // the last frame of a connection
	kindEnd       kind = 13
)

// The flags.
const (
	flagNote   = 1 << 0 // kindPut, kindNotify: a, b and c are a notification
	flagAdd    = 1 << 1 // the notification is added to the word
	flagLast   = 1 << 2 // kindData: the answer ends with this frame
	flagPosted = 1 << 3 // kindRefused: number is that of a queue, not of a request
)

// A refusal says why a frame was not obeyed.
type refusal uint8

const (
	refusedSegment   refusal = 1 // no such segment, of that generation, for this rank
	refusedUnaligned refusal = 2 // the memory does not suit 64-bit atomics there
	refusalEnd       refusal = 3
)

// mark is in every header, so that a stream out of step is noticed.
const mark = 'G'

// A frame is a header as numbers. On the wire, in little endian:
//
//	| 0 kind | 1 flags | 2 code | 3 mark | 4 number, 4 | 8 length, 8 |
//	| 16 segment, 4 | 20 zero, 4 | 24 generation, 8 | 32 offset, 8 |
//	| 40 a, 8 | 48 b, 8 | 56 c, 8 |
//
// docs/WIRE.md says what they mean in each kind.
type frame struct {
	kind       kind
	flags      uint8
	code       uint8
	number     uint32
	length     uint64
	segment    uint32
	generation uint64
	offset     uint64
	a, b, c    uint64
}

// put writes f as a header.
func (f *frame) put(h *[headSize]byte) {
	le := binary.LittleEndian
	le.PutUint64(h[0:], uint64(f.kind)|uint64(f.flags)<<8|uint64(f.code)<<16|mark<<24|uint64(f.number)<<32)
	le.PutUint64(h[8:], f.length)
	le.PutUint64(h[16:], uint64(f.segment))
	le.PutUint64(h[24:], f.generation)
	le.PutUint64(h[32:], f.offset)
	le.PutUint64(h[40:], f.a)
	le.PutUint64(h[48:], f.b)
	le.PutUint64(h[56:], f.c)
}

// parse reads a header. Everything that a kind does not use must be zero.
func parse(h *[headSize]byte) (f frame, err error) {
	le := binary.LittleEndian
	first := le.Uint64(h[0:])
	place := le.Uint64(h[16:])
	f = frame{
		kind: kind(first), flags: uint8(first >> 8), code: uint8(first >> 16), number: uint32(first >> 32),
		length: le.Uint64(h[8:]), segment: uint32(place), generation: le.Uint64(h[24:]), offset: le.Uint64(h[32:]),
		a: le.Uint64(h[40:]), b: le.Uint64(h[48:]), c: le.Uint64(h[56:]),
	}
	if uint8(first>>24) != mark || place>>32 != 0 || !f.wellFormed() {
		return frame{}, fmt.Errorf("malformed frame % x", h[:])
	}
	return f, nil
}

// wellFormed reports whether the fields go together. What they refer to is
// checked by whoever obeys the frame.
func (f *frame) wellFormed() bool {
	if f.length > lengthMost {
		return false
	}
	place := uint64(f.segment) | f.generation | f.offset
	switch f.kind {
	case kindPut:
		return f.code == 0 && (f.flags == 0 && f.a|f.b|f.c == 0 || f.noteWellFormed())
	case kindNotify:
		return uint64(f.code)|f.length|place == 0 && f.noteWellFormed()
	case kindGet:
		return uint64(f.flags|f.code)|f.a|f.b|f.c == 0 && f.length > 0
	case kindData:
		return f.flags&^flagLast == 0 && uint64(f.code)|uint64(f.segment)|f.generation|f.a|f.b|f.c == 0 && f.length > 0
	case kindAtomic:
		return uint64(f.flags)|f.length|f.c == 0 && f.code <= uint8(transport.FetchXor) && f.offset%8 == 0
	case kindFlush, kindBye:
		return uint64(f.flags|f.code)|f.length|place|f.a|f.b|f.c == 0 && (f.kind == kindFlush || f.number == 0)
	case kindAttach:
		return uint64(f.flags|f.code)|f.length|f.generation|f.offset|f.a|f.b|f.c == 0
	case kindResult:
		return uint64(f.flags|f.code)|f.length|place|f.b|f.c == 0
	case kindAttached:
		return uint64(f.flags|f.code)|f.length|f.b|f.c == 0 && f.generation != 0 && f.offset <= lengthMost && f.a < 1<<32
	case kindRefused:
		return f.flags&^flagPosted == 0 && f.code > 0 && refusal(f.code) < refusalEnd && f.length|f.offset|f.a|f.b|f.c == 0
	case kindWithdrawn:
		return uint64(f.flags|f.code)|uint64(f.number)|f.length|f.offset|f.a|f.b|f.c == 0
	}
	return false
}

func (f *frame) noteWellFormed() bool {
	return f.flags&^flagAdd == flagNote && f.a>>32 != 0 && f.b>>32 == 0
}

// setNote puts a notification into f: id and value, segment, generation.
func (f *frame) setNote(n transport.Flag, generation uint64) {
	f.flags |= flagNote
	if n.Add {
		f.flags |= flagAdd
	}
	f.a = uint64(n.ID) | uint64(n.Value)<<32
	f.b = uint64(n.Segment)
	f.c = generation
}

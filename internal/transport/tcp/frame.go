package tcp

import (
	"encoding/binary"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
)

// headSize is the number of bytes of a header: one cache line.
const headSize = 64

// lengthMost bounds transfers: as large as a segment can be.
const lengthMost = 1 << 46

// A frameKind is the kind of a frame. The numbers are on the wire.
type frameKind uint8

const (
	kindPut       frameKind = 1  // bytes for a segment, with or without a notification
	kindNotify    frameKind = 2  // a notification alone
	kindGet       frameKind = 3  // requests bytes of a segment
	kindData      frameKind = 4  // bytes of the reply to kindGet
	kindAtomic    frameKind = 5  // requests an atomic operation
	kindFlush     frameKind = 6  // requests a reply once all earlier frames were handled
	kindAttach    frameKind = 7  // requests the descriptor of a segment
	kindResult    frameKind = 8  // reply to kindAtomic and kindFlush
	kindAttached  frameKind = 9  // reply to kindAttach
	kindRefused   frameKind = 10 // refusal of a frame
	kindWithdrawn frameKind = 11 // announces that a segment was withdrawn
	kindBye       frameKind = 12 // the last frame of a connection
	kindReady     frameKind = 13 // the first frame of the side that connected
	kindEnd       frameKind = 14
)

// The flags.
const (
	flagNote   = 1 << 0 // kindPut, kindNotify: a, b and c are a notification
	flagAdd    = 1 << 1 // the notification is added to the word
	flagLast   = 1 << 2 // kindData: the reply ends with this frame
	flagPosted = 1 << 3 // kindRefused: number is that of a queue, not of a request
	flagAck    = 1 << 4 // kindPut, kindNotify: later ones may wait until the system acknowledges this one
)

// mark is in every header, so that a stream out of step is noticed.
const mark = 'G'

// A frame is a header as numbers. On the wire, in little endian:
//
//	| 0 kind | 1 flags | 2 code | 3 mark | 4 number, 4 | 8 length, 8 |
//	| 16 segment, 4 | 20 zero, 4 | 24 generation, 8 | 32 offset, 8 |
//	| 40 a, 8 | 48 b, 8 | 56 c, 8 |
//
// WIRE.md defines them for each kind.
type frame struct {
	kind       frameKind
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
		kind: frameKind(first), flags: uint8(first >> 8), code: uint8(first >> 16), number: uint32(first >> 32),
		length: le.Uint64(h[8:]), segment: uint32(place), generation: le.Uint64(h[24:]), offset: le.Uint64(h[32:]),
		a: le.Uint64(h[40:]), b: le.Uint64(h[48:]), c: le.Uint64(h[56:]),
	}
	if uint8(first>>24) != mark || place>>32 != 0 || !f.wellFormed() {
		return frame{}, fmt.Errorf("malformed frame % x", h[:])
	}
	return f, nil
}

// wellFormed reports whether the fields go together. Whether they refer to anything is
// checked when the frame is handled.
func (f *frame) wellFormed() bool {
	if f.length > lengthMost {
		return false
	}
	place := uint64(f.segment) | f.generation | f.offset
	switch f.kind {
	case kindPut:
		return f.code == 0 && (f.flags&^flagAck == 0 && f.a|f.b|f.c == 0 || f.flagWellFormed())
	case kindNotify:
		return uint64(f.code)|f.length|place == 0 && f.flagWellFormed()
	case kindGet:
		return uint64(f.flags|f.code)|f.a|f.b|f.c == 0 && f.length > 0
	case kindData:
		return f.flags&^flagLast == 0 && uint64(f.code)|uint64(f.segment)|f.generation|f.a|f.b|f.c == 0 && f.length > 0
	case kindAtomic:
		return uint64(f.flags)|f.length|f.c == 0 && f.code <= uint8(transport.FetchXor) && f.offset%8 == 0
	case kindFlush, kindBye, kindReady:
		return uint64(f.flags|f.code)|f.length|place|f.a|f.b|f.c == 0 && (f.kind == kindFlush || f.number == 0)
	case kindAttach:
		return uint64(f.flags|f.code)|f.length|f.generation|f.offset|f.a|f.b|f.c == 0
	case kindResult:
		return uint64(f.flags|f.code)|f.length|place|f.b|f.c == 0
	case kindAttached:
		return uint64(f.flags|f.code)|f.length|f.b|f.c == 0 && f.generation != 0 && f.offset <= lengthMost && f.a < 1<<32
	case kindRefused:
		return f.flags&^flagPosted == 0 && f.code > 0 && remote.Refusal(f.code) <= remote.RefusedUnaligned && f.length|f.offset|f.a|f.b|f.c == 0
	case kindWithdrawn:
		return uint64(f.flags|f.code)|uint64(f.number)|f.length|f.offset|f.a|f.b|f.c == 0
	}
	return false
}

func (f *frame) flagWellFormed() bool {
	return f.flags&^(flagAdd|flagAck) == flagNote && f.a>>32 != 0 && f.b>>32 == 0
}

// asks reports whether the frame asks to be acknowledged at once.
func (f *frame) asks() bool {
	return f.flags&flagAck != 0 && (f.kind == kindPut || f.kind == kindNotify)
}

// setFlag puts a notification into f: id and value, segment, generation.
func (f *frame) setFlag(n transport.Flag, generation uint64) {
	f.flags |= flagNote
	if n.Add {
		f.flags |= flagAdd
	}
	f.a = remote.PackFlag(n)
	f.b = uint64(n.Segment)
	f.c = generation
}

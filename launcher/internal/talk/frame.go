package talk

import (
	"encoding/binary"
	"fmt"
	"io"
)

// MaxData bounds the payload of a frame, in bytes.
const MaxData = 16 << 20

// A Frame is one message. On the wire it is, in little endian:
//
//	| 0 kind | 1 zero, 3 | 4 number, 4 | 8 length of data, 4 | 12 data |
type Frame struct {
	Kind   FrameKind
	Number int32 // a rank, a stream, a signal, a count: it depends on the kind
	Data   []byte
}

// A FrameKind says what a frame means. The kinds are the business of the users of
// this package; 0 is its own.
type FrameKind uint8

// ping is a sign of life.
const ping FrameKind = 0

const headerSize = 12

// growth bounds what is allocated for a payload before any of it has come.
const growth = 64 << 10

func (f Frame) header() (h [headerSize]byte) {
	h[0] = byte(f.Kind)
	binary.LittleEndian.PutUint32(h[4:], uint32(f.Number))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(f.Data)))
	return h
}

// readFrame reads one frame. A connection that ends between two frames is
// io.EOF, within one io.ErrUnexpectedEOF.
func readFrame(r io.Reader) (Frame, error) {
	var h [headerSize]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	size := binary.LittleEndian.Uint32(h[8:])
	if h[1]|h[2]|h[3] != 0 || size > MaxData {
		return Frame{}, fmt.Errorf("malformed frame %x: expected three zeros after the kind and a length of at most %d", h, MaxData)
	}
	f := Frame{Kind: FrameKind(h[0]), Number: int32(binary.LittleEndian.Uint32(h[4:]))}
	for rest := int(size); rest > 0; {
		n := min(rest, max(growth, len(f.Data)))
		at := len(f.Data)
		f.Data = append(f.Data, make([]byte, n)...)
		if _, err := io.ReadFull(r, f.Data[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return Frame{}, err
		}
		rest -= n
	}
	return f, nil
}

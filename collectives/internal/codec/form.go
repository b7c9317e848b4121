package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// HeaderSize is how much longer than a vector its form is at most, in bytes.
//
//	| magic: 4 bytes | scheme: 4 | elements: 8 | bytes that follow: 8 |
const HeaderSize = 24

const magic = 0x46434147

// A scheme is how the bytes of a form are to be read.
type scheme uint32

const (
	plain     scheme = iota // the vector itself
	packed                  // see pack.go
	quantised               // see bounded.go
	sparse                  // see topk.go

	schemes
)

// ErrCorrupt says that bytes are no coded form, or one of another vector.
var ErrCorrupt = errors.New("the coded form is corrupt")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Length is how many bytes the form at the beginning of mem has. It is at most
// len(mem), or there is an error that matches ErrCorrupt.
func Length(mem []byte) (int, error) {
	if len(mem) < HeaderSize || binary.LittleEndian.Uint32(mem) != magic {
		return 0, corrupt("it does not begin like one")
	}
	n := binary.LittleEndian.Uint64(mem[16:])
	if n > uint64(len(mem)-HeaderSize) {
		return 0, corrupt("%d bytes in the room for %d", n, len(mem)-HeaderSize)
	}
	return HeaderSize + int(n), nil
}

// seal writes the header of a form of so many bytes.
func seal(dst []byte, how scheme, count, n int) int {
	le := binary.LittleEndian
	le.PutUint32(dst, magic)
	le.PutUint32(dst[4:], uint32(how))
	le.PutUint64(dst[8:], uint64(count))
	le.PutUint64(dst[16:], uint64(n))
	return HeaderSize + n
}

// open is what a header announces, and the bytes after it.
func open(mem []byte) (how scheme, count uint64, body []byte, err error) {
	n, err := Length(mem)
	if err != nil {
		return 0, 0, nil, err
	}
	how = scheme(binary.LittleEndian.Uint32(mem[4:]))
	if how >= schemes {
		return 0, 0, nil, corrupt("scheme %d", how)
	}
	return how, binary.LittleEndian.Uint64(mem[8:]), mem[HeaderSize:n], nil
}

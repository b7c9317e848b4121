package status

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const headerSize = 16

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal appends a text to b behind a header by which a reader sees whether it is whole, and returns the
// result:
//
//	| 0 magic, 4 | 4 length of text, 4 | 8 CRC-32C of text, 4 | 12 zero, 4 | 16 text |
//
// in little endian. magic is not 0 and says what the text is.
func Seal(b []byte, magic uint32, text []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, magic)
	b = le.AppendUint32(b, uint32(len(text)))
	b = le.AppendUint32(b, crc32.Checksum(text, castagnoli))
	b = le.AppendUint32(b, 0)
	return append(b, text...)
}

// Unseal returns the text that Seal has put at the beginning of b, which it shares with b. It returns
// ErrNone where there are zeros, and ErrTorn where the text is not the one of the header.
func Unseal(b []byte, magic uint32) (text []byte, err error) {
	if len(b) < headerSize {
		return nil, fmt.Errorf("row of %d bytes; at least %d are needed", len(b), headerSize)
	}
	le := binary.LittleEndian
	size := le.Uint32(b[4:])
	switch {
	case le.Uint32(b) == 0:
		return nil, ErrNone
	case le.Uint32(b) != magic || le.Uint32(b[12:]) != 0:
		return nil, fmt.Errorf("a row that begins with %x is none of this version", b[:headerSize])
	case uint64(size) > uint64(len(b)-headerSize):
		return nil, fmt.Errorf("row of %d bytes in %d", size, len(b)-headerSize)
	}
	text = b[headerSize:][:size]
	if crc32.Checksum(text, castagnoli) != le.Uint32(b[8:]) {
		return nil, ErrTorn
	}
	return text, nil
}

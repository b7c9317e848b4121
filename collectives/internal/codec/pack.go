package codec

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// The packed scheme is without loss: blocks of whole elements, each shuffled and
// compressed by itself. A block that does not shrink stands as it is.
//
//	block: | bytes that follow: 4 | bytes |
//
// S2 was chosen by measurement; what lost is in docs/decisions/0006-compression.md.

// packBlock is how many bytes a block has, more or less: both of its forms stay in
// the second-level cache.
const packBlock = 64 << 10

// block is how many bytes of whole elements make a block.
func (c *Coder) block() int { return max(1, packBlock/c.element.Size) * c.element.Size }

// pack writes the blocks of src to dst and returns their length, 0 if it is not less
// than that of src.
func (c *Coder) pack(dst, src []byte) int {
	size := c.block()
	at := 0
	for len(src) > 0 {
		b := src[:min(size, len(src))]
		src = src[len(b):]
		c.plane = room(c.plane, len(b))
		c.small = room(c.small, s2.MaxEncodedLen(len(b)))
		shuffle(c.plane, b, c.element.Size)
		form := s2.Encode(c.small, c.plane)
		if len(form) >= len(b) {
			form = b
		}
		if at+4+len(form) >= len(dst) {
			return 0
		}
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(form)))
		at += 4 + copy(dst[at+4:], form)
	}
	return at
}

// unpack undoes pack.
func (c *Coder) unpack(dst, src []byte) error {
	size := c.block()
	for len(dst) > 0 {
		b := dst[:min(size, len(dst))]
		dst = dst[len(b):]
		if len(src) < 4 {
			return corrupt("a block is missing")
		}
		n := binary.LittleEndian.Uint32(src)
		if src = src[4:]; uint64(n) > uint64(len(src)) {
			return corrupt("a block of %d bytes in %d", n, len(src))
		}
		form := src[:n]
		src = src[n:]
		if len(form) == len(b) {
			copy(b, form)
			continue
		}
		if k, err := s2.DecodedLen(form); err != nil || k != len(b) {
			return corrupt("a block is not of %d bytes", len(b))
		}
		c.plane = room(c.plane, len(b))
		plane, err := s2.Decode(c.plane, form)
		if err != nil {
			return corrupt("a block: %v", err)
		}
		unshuffle(b, plane, c.element.Size)
	}
	if len(src) > 0 {
		return corrupt("%d bytes too many", len(src))
	}
	return nil
}

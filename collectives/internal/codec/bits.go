package codec

import (
	"encoding/binary"
	"math/bits"
)

// fold makes small numbers of numbers near 0, negative ones too.
func fold(x int32) uint32 { return uint32(x)<<1 ^ uint32(x>>31) }

// unfold undoes fold.
func unfold(x uint32) int32 { return int32(x>>1) ^ -int32(x&1) }

// width is how many bits x has.
func width(x uint32) int { return bits.Len32(x) }

// packedBits is how many bytes n numbers have whose bits a mark counts.
func packedBits(n int, mark byte) int { return (n*int(mark&^delta) + 7) / 8 }

// putBits writes the low bits of numbers, which are all they have, one after the
// other. dst is as long as that.
func putBits(dst []byte, all []uint32, width int) {
	var word uint64
	have, at := 0, 0
	for _, x := range all {
		word |= uint64(x) << have
		if have += width; have >= 32 {
			binary.LittleEndian.PutUint32(dst[at:], uint32(word))
			word >>= 32
			have -= 32
			at += 4
		}
	}
	for ; at < len(dst); at++ {
		dst[at] = byte(word)
		word >>= 8
	}
}

// getBits undoes putBits.
func getBits(all []uint32, src []byte, width int) {
	var word uint64
	have, at := 0, 0
	mask := uint64(1)<<width - 1
	for i := range all {
		if have < width {
			if at+4 <= len(src) {
				word |= uint64(binary.LittleEndian.Uint32(src[at:])) << have
				have += 32
				at += 4
			} else {
				for ; at < len(src); at++ {
					word |= uint64(src[at]) << have
					have += 8
				}
			}
		}
		all[i] = uint32(word & mask)
		word >>= width
		have -= width
	}
}

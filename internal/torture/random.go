package torture

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// mix makes one number of several. Nearby ones give numbers that have nothing in common.
func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, part := range parts {
		h ^= part
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// stream is a sequence of random numbers that follows from parts.
func stream(parts ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(parts...), uint64(len(parts))))
}

// fill makes the bytes that belong to a key.
func fill(dst []byte, key uint64) {
	n := len(dst) &^ 7
	for i := 0; i < n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], word(key, i))
	}
	var last [8]byte
	binary.LittleEndian.PutUint64(last[:], word(key, n))
	copy(dst[n:], last[:])
}

// word is the eight bytes of a key's sequence from byte i on.
func word(key uint64, i int) uint64 {
	x := (key + uint64(i)) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// differ returns the position of the first byte that differs, or -1.
func differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

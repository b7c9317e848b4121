package reduce

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// A subject is an element type as the tests see it: bytes, and what combines them.
type subject struct {
	name string
	kind kind
	size int
	into func(l simd.Level, op Op, dst, a, b []byte)
	// specials are the values at which kernels go wrong.
	specials [][]byte
}

func subjectOf[T Element](specials [][]byte) subject {
	k := kindOf[T]()
	return subject{
		name: fmt.Sprintf("%T", *new(T)), kind: k, size: stride[T](), specials: specials,
		into: func(l simd.Level, op Op, dst, a, b []byte) { into(l, k, op, dst, a, b) },
	}
}

// subjects returns one of every kind, in the order of kinds.
func subjects() []subject {
	return []subject{
		subjectOf[int8](integers(1)), subjectOf[int16](integers(2)),
		subjectOf[int32](integers(4)), subjectOf[int64](integers(8)),
		subjectOf[uint8](integers(1)), subjectOf[uint16](integers(2)),
		subjectOf[uint32](integers(4)), subjectOf[uint64](integers(8)),
		subjectOf[float32](words32(floats32)), subjectOf[float64](words64(floats64)),
		subjectOf[Float16](words16(floats16)), subjectOf[BFloat16](words16(brains16)),
		subjectOf[complex64](pairs(words32(floats32))), subjectOf[complex128](pairs(words64(floats64))),
		subjectOf[Loc[int32]](locs(integers(4))), subjectOf[Loc[int64]](locs(integers(8))),
		subjectOf[Loc[float32]](locs(words32(floats32))), subjectOf[Loc[float64]](locs(words64(floats64))),
	}
}

func (s subject) ops() []Op {
	var all []Op
	for op := range Op(numOps) {
		if s.kind.supports(op) {
			all = append(all, op)
		}
	}
	return all
}

// levels returns the kernel sets that this machine can run.
func levels() []simd.Level {
	var all []simd.Level
	for l := simd.Scalar; l <= simd.Supported(); l++ {
		all = append(all, l)
	}
	return all
}

// eachKernel runs f for every type, operation and level.
func eachKernel(t *testing.T, f func(t *testing.T, s subject, l simd.Level, op Op)) {
	for _, s := range subjects() {
		for _, l := range levels() {
			for _, op := range s.ops() {
				t.Run(fmt.Sprintf("%v/%v/%s", l, op, s.name), func(t *testing.T) { f(t, s, l, op) })
			}
		}
	}
}

// random returns n elements in memory that suits them: a third special, the others
// any bits, or for floats numbers of a size that does not swallow others.
func (s subject) random(r *rand.Rand, n int) []byte {
	mem := aligned(n * s.size)
	for e := range slices.Chunk(mem, s.size) {
		if r.IntN(3) == 0 {
			copy(e, s.specials[r.IntN(len(s.specials))])
			continue
		}
		for i := range e {
			e[i] = byte(r.Uint32())
		}
		switch s.kind {
		case kindFloat32, kindComplex64, kindLocFloat32:
			binary.LittleEndian.PutUint32(e, math.Float32bits(float32(r.NormFloat64()*1000)))
		case kindFloat64, kindComplex128, kindLocFloat64:
			binary.LittleEndian.PutUint64(e, math.Float64bits(r.NormFloat64()*1000))
		}
		switch s.kind {
		case kindComplex64:
			binary.LittleEndian.PutUint32(e[4:], math.Float32bits(float32(r.NormFloat64()*1000)))
		case kindComplex128:
			binary.LittleEndian.PutUint64(e[8:], math.Float64bits(r.NormFloat64()*1000))
		}
	}
	return mem
}

// aligned returns n bytes at an address that suits every element.
func aligned(n int) []byte { return BytesOf(make([]int64, (n+7)/8))[:n:n] }

// integers returns the ends of every width, cut to size bytes.
func integers(size int) [][]byte {
	var all [][]byte
	for _, shift := range []int{0, 1, 7, 8, 15, 16, 31, 32, 63} {
		v := uint64(1) << shift
		for _, w := range []uint64{v, v - 1, v + 1, -v, v / 3} {
			all = append(all, binary.LittleEndian.AppendUint64(nil, w)[:size])
		}
	}
	return all
}

var (
	floats32 = []uint32{
		0, 1 << 31, // zeros
		0x3F800000, 0xBF800000, 0x40490FDB, // 1, -1, pi
		1, 0x80000001, 0x007FFFFF, 0x807FFFFF, // smallest and largest denormals
		0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, // smallest and largest normals
		0x7F800000, 0xFF800000, // infinities
		0x7FC00000, 0xFFC00000, 0x7FC12345, 0xFFFFFFFF, // quiet NaNs
		0x7F800001, 0xFF800001, 0x7FBFFFFF, // signalling NaNs
		0x5F000000, 0x20000000, // products over- and underflow
	}
	floats64 = []uint64{
		0, 1 << 63,
		0x3FF0000000000000, 0xBFF0000000000000, 0x400921FB54442D18,
		1, 0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x800FFFFFFFFFFFFF,
		0x0010000000000000, 0x8010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
		0x7FF0000000000000, 0xFFF0000000000000,
		0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFFFFFFFFFFFFFFF,
		0x7FF0000000000001, 0xFFF0000000000001, 0x7FF7FFFFFFFFFFFF,
		0x5FF0000000000000, 0x1FF0000000000000,
	}
	floats16 = []uint16{
		0, 0x8000, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, // zeros, around 1
		1, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, // where denormals begin and end
		0x7BFF, 0xFBFF, 0x7800, 0x4C00, 0x4BFF, 0x1000, // largest; 16, half a place of it
		0x7C00, 0xFC00, // infinities
		0x7E00, 0xFE00, 0x7E01, 0xFFFF, 0x7C01, 0xFC01, 0x7DFF, // NaNs
	}
	brains16 = []uint16{
		0, 0x8000, 0x3F80, 0xBF80, 0x3F81, 0x3F7F,
		1, 0x8001, 0x007F, 0x807F, 0x0080, 0x8080,
		0x7F7F, 0xFF7F, 0x7B00, 0x3B80, 0x3B00, 0x2000,
		0x7F80, 0xFF80,
		0x7FC0, 0xFFC0, 0x7FC1, 0xFFFF, 0x7F81, 0xFF81, 0x7FBF,
	}
)

func words16(words []uint16) [][]byte {
	return slices.Collect(slices.Chunk(BytesOf(words), 2))
}

func words32(words []uint32) [][]byte {
	return slices.Collect(slices.Chunk(BytesOf(words), 4))
}

func words64(words []uint64) [][]byte {
	return slices.Collect(slices.Chunk(BytesOf(words), 8))
}

// pairs returns complex numbers of the given parts, a twelfth of all there are.
func pairs(parts [][]byte) [][]byte {
	var all [][]byte
	for i, re := range parts {
		for j, im := range parts {
			if (5*i+j)%12 == 0 {
				all = append(all, slices.Concat(re, im))
			}
		}
	}
	return all
}

// locs returns each value with two indices, and with padding that is not zero.
func locs(values [][]byte) [][]byte {
	var all [][]byte
	for i, v := range values {
		for _, index := range []int64{int64(i % 3), -5} {
			e := slices.Concat(v, []byte{1, 2, 3, 4, 5, 6, 7, 8})[:8]
			all = append(all, binary.LittleEndian.AppendUint64(e, uint64(index)))
		}
	}
	return all
}

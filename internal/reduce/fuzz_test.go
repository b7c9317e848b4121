package reduce

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// FuzzInto reads elements of every type from arbitrary bytes and holds every
// level to the oracle, in both operand orders and in place.
func FuzzInto(f *testing.F) {
	f.Add(uint8(0), uint8(kindFloat32), uint8(1), []byte("a few bytes of two operands, long enough for the widest vector; and then some more of the same"))
	f.Add(uint8(3), uint8(kindFloat64), uint8(3), binary.LittleEndian.AppendUint64(make([]byte, 200), 0x7FF0000000000001))
	f.Add(uint8(6), uint8(kindInt8), uint8(7), make([]byte, 300))
	f.Add(uint8(0), uint8(kindFloat16), uint8(5), binary.LittleEndian.AppendUint16(make([]byte, 130), 0x7BFF))
	f.Add(uint8(1), uint8(kindBFloat16), uint8(9), binary.LittleEndian.AppendUint16(make([]byte, 130), 0xFF7F))
	f.Add(uint8(1), uint8(kindComplex64), uint8(1), bytes.Repeat([]byte{0, 0, 0x80, 0x7F, 1, 0, 0, 0}, 30))
	f.Add(uint8(8), uint8(kindLocFloat32), uint8(2), bytes.Repeat([]byte{0, 0, 0, 0x80, 1, 2, 3, 4}, 16))
	all := subjects()
	f.Fuzz(func(t *testing.T, op, k, offset uint8, data []byte) {
		if int(k) < len(all) && all[k].kind.supports(Op(op)) {
			fuzzInto(t, all[k], Op(op), int(offset)%64*all[k].size, data)
		}
	})
}

func fuzzInto(t *testing.T, s subject, op Op, offset int, data []byte) {
	n := len(data) / 2 / s.size * s.size
	a, b := aligned(n), aligned(n)
	copy(a, data)
	copy(b, data[n:])
	var want []byte
	for i := 0; i < n; i += s.size {
		want = append(want, oracle(s.kind, op, a[i:i+s.size], b[i:i+s.size])...)
	}
	for _, l := range levels() {
		dst := aligned(offset + n)[offset:]
		s.into(l, op, dst, a, b)
		checkBytes(t, s, l, op, "a, b", dst, want)
		s.into(l, op, dst, b, a)
		checkBytes(t, s, l, op, "b, a", dst, want)
		copy(dst, a)
		s.into(l, op, dst, dst, b)
		checkBytes(t, s, l, op, "dst, b", dst, want)
		copy(dst, b)
		kernelOf(l, s.kind, op)(dst, a, dst)
		checkBytes(t, s, l, op, "a, dst", dst, want)
	}
}

func checkBytes(t *testing.T, s subject, l simd.Level, op Op, order string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	for i := 0; i < len(got); i += s.size {
		if g, w := got[i:i+s.size], want[i:i+s.size]; !bytes.Equal(g, w) {
			t.Fatalf("%v %v %s, operands %s, %d bytes: element %d is %s, want %s",
				l, op, s.name, order, len(got), i/s.size, hex(g), hex(w))
		}
	}
}

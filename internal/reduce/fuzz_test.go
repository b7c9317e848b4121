package reduce

import (
	"encoding/binary"
	"slices"
	"testing"
)

// FuzzInto reads elements of every type from arbitrary bytes and holds every
// level to the oracle, in both operand orders and in place.
func FuzzInto(f *testing.F) {
	f.Add(uint8(0), uint8(kindFloat32), uint8(1), []byte("a few bytes of two operands, long enough for the widest vector; and then some more of the same"))
	f.Add(uint8(3), uint8(kindFloat64), uint8(3), binary.LittleEndian.AppendUint64(make([]byte, 200), 0x7FF0000000000001))
	f.Add(uint8(6), uint8(kindInt8), uint8(7), make([]byte, 300))
	f.Fuzz(func(t *testing.T, op, k, offset uint8, data []byte) {
		switch kind(k) {
		case kindInt8:
			fuzzInto[int8](t, op, offset, data)
		case kindInt16:
			fuzzInto[int16](t, op, offset, data)
		case kindInt32:
			fuzzInto[int32](t, op, offset, data)
		case kindInt64:
			fuzzInto[int64](t, op, offset, data)
		case kindUint8:
			fuzzInto[uint8](t, op, offset, data)
		case kindUint16:
			fuzzInto[uint16](t, op, offset, data)
		case kindUint32:
			fuzzInto[uint32](t, op, offset, data)
		case kindUint64:
			fuzzInto[uint64](t, op, offset, data)
		case kindFloat32:
			fuzzInto[float32](t, op, offset, data)
		case kindFloat64:
			fuzzInto[float64](t, op, offset, data)
		}
	})
}

func fuzzInto[T Number](t *testing.T, code, offset uint8, data []byte) {
	op := Op(code)
	if !Supports[T](op) {
		return
	}
	values := decode[T](data)
	n := len(values) / 2
	a, b := values[:n], values[n:2*n]
	want := make([]uint64, n)
	for i := range want {
		want[i] = bits(oracle(op, a[i], b[i]))
	}
	for _, l := range levels() {
		dst := make([]T, int(offset)%64+n)[int(offset)%64:]
		into(l, op, dst, a, b)
		checkBits(t, l, op, "a, b", dst, want)
		into(l, op, dst, b, a)
		checkBits(t, l, op, "b, a", dst, want)
		copy(dst, a)
		into(l, op, dst, dst, b)
		checkBits(t, l, op, "dst, b", dst, want)
		copy(dst, b)
		into(l, op, dst, a, dst)
		checkBits(t, l, op, "a, dst", dst, want)
	}
}

// decode reads as many elements as there are whole ones in data.
func decode[T Number](data []byte) []T {
	size := int(sizeOf[T]())
	var values []T
	for chunk := range slices.Chunk(data, size) {
		if len(chunk) < size {
			break
		}
		var word [8]byte
		copy(word[:], chunk)
		v := binary.LittleEndian.Uint64(word[:])
		switch kindOf[T]() {
		case kindFloat32:
			values = append(values, as[T]([]uint32{uint32(v)})...)
		case kindFloat64:
			values = append(values, as[T]([]uint64{v})...)
		default:
			values = append(values, T(v))
		}
	}
	return values
}

func checkBits[T Number](t *testing.T, l level, op Op, order string, got []T, want []uint64) {
	t.Helper()
	for i := range got {
		if bits(got[i]) != want[i] {
			t.Fatalf("%v %v %T, operands %s, %d elements: element %d is %#x, want %#x",
				l, op, got[i], order, len(got), i, bits(got[i]), want[i])
		}
	}
}

package reduce

import "github.com/gaspi-go/gaspi-go/internal/simd"

// into does the work of Into with the kernels of level l.
func into(l simd.Level, k kind, op Op, dst, a, b []byte) {
	n := len(dst)
	switch {
	case n >= smallest && vector(l, makePair(k, op), dst, a, b):
	case n >= smallestPadded && n < smallest && l > simd.Scalar && (k == kindFloat16 || k == kindBFloat16):
		padded(l, makePair(k, op), dst, a, b)
	default:
		scalar(k, op, dst, a, b)
	}
}

// smallestPadded is the number of bytes from which half floats are worth a vector
// that they do not fill. It costs as much as four sums of Float16 one by one.
const smallestPadded = 16

// padded runs a kernel of one vector, which it must have, on less than one.
func padded(l simd.Level, p pair, dst, a, b []byte) {
	var x, y [smallest]byte
	copy(x[:], a)
	copy(y[:], b)
	vector(l, p, x[:], x[:], y[:])
	copy(dst, x[:])
}

// scalar runs the pure-Go kernel.
func scalar(k kind, op Op, dst, a, b []byte) {
	switch k {
	case kindInt8:
		scalarInteger(op, as[int8](dst), as[int8](a), as[int8](b))
	case kindInt16:
		scalarInteger(op, as[int16](dst), as[int16](a), as[int16](b))
	case kindInt32:
		scalarInteger(op, as[int32](dst), as[int32](a), as[int32](b))
	case kindInt64:
		scalarInteger(op, as[int64](dst), as[int64](a), as[int64](b))
	case kindUint8:
		scalarInteger(op, dst, a, b)
	case kindUint16:
		scalarInteger(op, as[uint16](dst), as[uint16](a), as[uint16](b))
	case kindUint32:
		scalarInteger(op, as[uint32](dst), as[uint32](a), as[uint32](b))
	case kindUint64:
		scalarInteger(op, as[uint64](dst), as[uint64](a), as[uint64](b))
	case kindFloat32:
		scalarFloat(op, as[float32](dst), as[float32](a), as[float32](b))
	case kindFloat64:
		scalarFloat(op, as[float64](dst), as[float64](a), as[float64](b))
	case kindFloat16:
		scalarFloat16(op, as[Float16](dst), as[Float16](a), as[Float16](b))
	case kindBFloat16:
		scalarBFloat16(op, as[BFloat16](dst), as[BFloat16](a), as[BFloat16](b))
	case kindComplex64:
		scalarComplex(op, as[pairOf[float32]](dst), as[pairOf[float32]](a), as[pairOf[float32]](b))
	case kindComplex128:
		scalarComplex(op, as[pairOf[float64]](dst), as[pairOf[float64]](a), as[pairOf[float64]](b))
	case kindLocInt32:
		scalarLocInteger(op, as[Loc[int32]](dst), as[Loc[int32]](a), as[Loc[int32]](b))
	case kindLocInt64:
		scalarLocInteger(op, as[Loc[int64]](dst), as[Loc[int64]](a), as[Loc[int64]](b))
	case kindLocFloat32:
		scalarLocFloat(op, as[Loc[float32]](dst), as[Loc[float32]](a), as[Loc[float32]](b))
	case kindLocFloat64:
		scalarLocFloat(op, as[Loc[float64]](dst), as[Loc[float64]](a), as[Loc[float64]](b))
	}
}

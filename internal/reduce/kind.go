package reduce

import "unsafe"

// kind is the built-in type that a Number is made of.
type kind uint8

const (
	kindInt8 kind = iota
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
)

// isFloat reports whether T is made of float32 or float64. Only there is a
// half not rounded to zero, which asks the question without reflection; the
// compiler folds the answer.
func isFloat[T Number]() bool {
	one := T(1)
	return one/2 != 0
}

// kindOf returns what T is made of. For a given T it is a constant.
func kindOf[T Number]() kind {
	var zero T
	var k kind
	switch sizeOf[T]() {
	case 1:
		k = kindInt8
	case 2:
		k = kindInt16
	case 4:
		k = kindInt32
	default:
		k = kindInt64
	}
	switch {
	case isFloat[T]():
		return k + kindFloat32 - kindInt32
	case zero-1 > 0:
		return k + kindUint8 - kindInt8
	}
	return k
}

// sizeOf returns the bytes in an element.
func sizeOf[T Number]() uintptr { return unsafe.Sizeof(*new(T)) }

// as gives the same memory as elements of another type. If To is the larger, s
// is aligned for it and a whole number of them.
func as[To, From Number](s []From) []To {
	n := uintptr(len(s)) * sizeOf[From]() / sizeOf[To]()
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), n)
}

// partlyOverlap reports whether x and y, of equal length, share memory without
// being the same slice.
func partlyOverlap[T Number](x, y []T) bool {
	px := uintptr(unsafe.Pointer(unsafe.SliceData(x)))
	py := uintptr(unsafe.Pointer(unsafe.SliceData(y)))
	n := uintptr(len(x)) * sizeOf[T]()
	return px != py && px < py+n && py < px+n
}

// scalar runs the pure-Go kernel.
func scalar[T Number](op Op, dst, a, b []T) {
	switch kindOf[T]() {
	case kindInt8:
		scalarInteger(op, as[int8](dst), as[int8](a), as[int8](b))
	case kindInt16:
		scalarInteger(op, as[int16](dst), as[int16](a), as[int16](b))
	case kindInt32:
		scalarInteger(op, as[int32](dst), as[int32](a), as[int32](b))
	case kindInt64:
		scalarInteger(op, as[int64](dst), as[int64](a), as[int64](b))
	case kindUint8:
		scalarInteger(op, as[uint8](dst), as[uint8](a), as[uint8](b))
	case kindUint16:
		scalarInteger(op, as[uint16](dst), as[uint16](a), as[uint16](b))
	case kindUint32:
		scalarInteger(op, as[uint32](dst), as[uint32](a), as[uint32](b))
	case kindUint64:
		scalarInteger(op, as[uint64](dst), as[uint64](a), as[uint64](b))
	case kindFloat32:
		scalarFloat32(op, as[float32](dst), as[float32](a), as[float32](b))
	case kindFloat64:
		scalarFloat64(op, as[float64](dst), as[float64](a), as[float64](b))
	}
}

// into does the work of Into with the kernels of level l.
func into[T Number](l level, op Op, dst, a, b []T) {
	n := uint64(len(dst)) * uint64(sizeOf[T]())
	if n >= l.smallest() && vector(l, makePair(kindOf[T](), op), start(dst), start(a), start(b), n) {
		return
	}
	scalar(op, dst, a, b)
}

// start returns the address of the first byte of s.
func start[T Number](s []T) *byte { return (*byte)(unsafe.Pointer(unsafe.SliceData(s))) }

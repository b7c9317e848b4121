package reduce

import "reflect"

// kind is what an Element is made of.
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
	kindFloat16
	kindBFloat16
	kindComplex64
	kindComplex128
	kindLocInt32
	kindLocInt64
	kindLocFloat32
	kindLocFloat64

	numKinds = iota
)

// builtin is the kind of every type whose kind in reflect says enough.
var builtin = [...]kind{
	reflect.Int8: kindInt8, reflect.Int16: kindInt16, reflect.Int32: kindInt32, reflect.Int64: kindInt64,
	reflect.Uint8: kindUint8, reflect.Uint16: kindUint16, reflect.Uint32: kindUint32, reflect.Uint64: kindUint64,
	reflect.Int: kindInt64 - intIsShort, reflect.Uint: kindUint64 - intIsShort,
	reflect.Float32: kindFloat32, reflect.Float64: kindFloat64,
	reflect.Complex64: kindComplex64, reflect.Complex128: kindComplex128,
	reflect.Struct: 0, // told apart by kindOf
}

// intIsShort is 1 where int has 32 bits, else 0.
const intIsShort = kind(1 - ^uint(0)>>63)

// kindOf returns what T is made of. It costs a nanosecond: code shared by all
// types of one layout has to ask which of them it runs for, and uint16 needs a
// second question. Only exactly Float16 and BFloat16 are floats.
func kindOf[T Element]() kind {
	k := builtin[reflect.TypeFor[T]().Kind()]
	if k != kindUint16 && k != 0 {
		return k
	}
	switch any(*new(T)).(type) {
	case Float16:
		return kindFloat16
	case BFloat16:
		return kindBFloat16
	case Loc[int32]:
		return kindLocInt32
	case Loc[int64]:
		return kindLocInt64
	case Loc[float32]:
		return kindLocFloat32
	case Loc[float64]:
		return kindLocFloat64
	}
	return k
}

// kindFor is kindOf for a type that the caller knows to be an Element.
func kindFor(t reflect.Type) kind {
	k := builtin[t.Kind()]
	if k != kindUint16 && k != 0 {
		return k
	}
	for named, of := range types() {
		if t == of {
			return kind(named)
		}
	}
	return k
}

// types are the types that kinds are named for.
func types() [numKinds]reflect.Type {
	return [numKinds]reflect.Type{
		reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[Float16](), reflect.TypeFor[BFloat16](),
		reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
		reflect.TypeFor[Loc[int32]](), reflect.TypeFor[Loc[int64]](), reflect.TypeFor[Loc[float32]](), reflect.TypeFor[Loc[float64]](),
	}
}

// layout is the size and the alignment of the elements of kind k.
func (k kind) layout() (size, align uintptr) {
	t := types()[k]
	return t.Size(), uintptr(t.Align())
}

// supports reports whether op is defined for elements of kind k.
func (k kind) supports(op Op) bool {
	switch {
	case k <= kindUint64:
		return op <= Xor
	case k <= kindBFloat16:
		return op <= Max
	case k <= kindComplex128:
		return op <= Prod
	}
	return op == MinLoc || op == MaxLoc
}

// pair is an element type and an operation in one switchable value.
type pair uint16

const opBits = 4

func makePair(k kind, op Op) pair { return pair(k)<<opBits | pair(op) }

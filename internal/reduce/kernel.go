package reduce

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// A Kernel stores a[i] op b[i] in dst[i] for every element i, where elements are
// bytes of a type fixed by KernelOf. a is the left operand and b the right one.
//
// The three have the same length, a whole number of elements, and begin at
// addresses that suit the element type; a Kernel panics otherwise, before it
// writes. dst may be exactly a, exactly b, or both; it must not overlap either in
// another way, which is not checked: the result is then undefined.
//
// A Kernel keeps nothing, allocates nothing, and may be called concurrently. To
// the compiler its arguments escape. The call is hot: below one vector it combines
// the elements right here, without looking anything up.
type Kernel func(dst, a, b []byte)

// KernelOf returns the kernel of op for elements of type T. The error says why
// there is none.
func KernelOf[T Element](op Op) (Kernel, error) { return KernelFor(reflect.TypeFor[T](), op) }

// KernelFor is KernelOf for a type that the caller knows to be an Element.
func KernelFor(t reflect.Type, op Op) (Kernel, error) {
	k, err := supporting(t, op)
	if err != nil {
		return nil, err
	}
	return kernelOf(best, k, op), nil
}

// supporting returns the kind of a type, or why op is not defined for it.
func supporting(t reflect.Type, op Op) (kind, error) {
	k := kindFor(t)
	if !k.supports(op) {
		return k, errors.New("reduce: " + refusal(k, t, op))
	}
	return k, nil
}

// kernelOf returns the kernel of level l.
func kernelOf(l simd.Level, k kind, op Op) Kernel {
	switch k {
	case kindInt8:
		return smallInteger[int8](op, large[int8](l, k, op))
	case kindInt16:
		return smallInteger[int16](op, large[int16](l, k, op))
	case kindInt32:
		return smallInteger[int32](op, large[int32](l, k, op))
	case kindInt64:
		return smallInteger[int64](op, large[int64](l, k, op))
	case kindUint8:
		return smallInteger[uint8](op, large[uint8](l, k, op))
	case kindUint16:
		return smallInteger[uint16](op, large[uint16](l, k, op))
	case kindUint32:
		return smallInteger[uint32](op, large[uint32](l, k, op))
	case kindUint64:
		return smallInteger[uint64](op, large[uint64](l, k, op))
	case kindFloat32:
		return smallFloat[float32](op, large[float32](l, k, op))
	case kindFloat64:
		return smallFloat[float64](op, large[float64](l, k, op))
	case kindFloat16:
		return large[Float16](l, k, op)
	case kindBFloat16:
		return large[BFloat16](l, k, op)
	case kindComplex64:
		return smallComplex[float32](op, large[pairOf[float32]](l, k, op))
	case kindComplex128:
		return smallComplex[float64](op, large[pairOf[float64]](l, k, op))
	case kindLocInt32:
		return large[Loc[int32]](l, k, op)
	case kindLocInt64:
		return large[Loc[int64]](l, k, op)
	case kindLocFloat32:
		return large[Loc[float32]](l, k, op)
	case kindLocFloat64:
		return large[Loc[float64]](l, k, op)
	}
	panic(fmt.Sprintf("reduce: kind %d has no kernel", k))
}

// large returns a kernel for any length that pays for the choice of the widest
// vectors that fit. T has the size and the alignment of kind k.
//
//go:noinline
func large[T any](l simd.Level, k kind, op Op) Kernel {
	narrow, wide := find(simd.AVX2, makePair(k, op)), find(simd.AVX512, makePair(k, op))
	if l < simd.AVX512 {
		wide = nil
	}
	if l < simd.AVX2 {
		narrow = nil
	}
	return func(dst, a, b []byte) {
		if !wholeElements[T](dst, a, b) {
			panicOperands(reflect.TypeFor[T](), dst, a, b)
		}
		switch n := len(dst); {
		case n >= 2*smallest && wide != nil:
			wide(start(dst), start(a), start(b), uint64(n))
		case n >= smallest && narrow != nil:
			narrow(start(dst), start(a), start(b), uint64(n))
		default:
			into(min(l, simd.AVX2), k, op, dst, a, b)
		}
	}
}

func panicOperands(t reflect.Type, dst, a, b []byte) {
	panic(fmt.Sprintf("reduce: a kernel for %v got %d bytes at %p from %d at %p and %d at %p; "+
		"all three must be of one length, whole elements of %d bytes, and aligned for them",
		t, len(dst), start(dst), len(a), start(a), len(b), start(b), t.Size()))
}

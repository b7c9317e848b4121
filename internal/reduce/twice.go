package reduce

import (
	"reflect"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// A Twice stores a[i] op b[i] in dst[i] and in back[i] for every element i, in one
// pass, where elements are bytes of a type fixed by TwiceOf. The result is that of a
// Kernel, to the bit.
//
// It is for vectors whose bytes come from other cores: it asks for the lines of dst
// and back to write them, before it reads those of an operand that is one of them, so
// that many are on their way at a time and each comes once.
//
// The four have the same length, a whole number of elements, and begin at addresses
// that suit the element type; a Twice panics otherwise, before it writes. Each of dst
// and back may be exactly a or exactly b; no two overlap in another way, which is not
// checked. The rules for calls of a Kernel hold for a Twice.
type Twice func(dst, back, a, b []byte)

// A twiceFunc is a vectorFunc that stores what it computes in two places.
type twiceFunc func(dst, back, a, b *byte, n uint64)

// twicePiece is how many bytes are folded before they are copied, where no vectors
// do both: they stay in the first-level cache.
const twicePiece = 8 << 10

// TwiceOf returns the Twice of op for elements of type T. The error says why there
// is none.
func TwiceOf[T Element](op Op) (Twice, error) { return TwiceFor(reflect.TypeFor[T](), op) }

// TwiceFor is TwiceOf for a type that the caller knows to be an Element.
func TwiceFor(t reflect.Type, op Op) (Twice, error) {
	k, err := supporting(t, op)
	if err != nil {
		return nil, err
	}
	return twiceOf(best, k, op), nil
}

// twiceOf returns the Twice of level l.
func twiceOf(l simd.Level, k kind, op Op) Twice {
	twice := uncheckedTwice(l, k, op)
	size, align := k.layout()
	return func(dst, back, a, b []byte) {
		if !fitting(dst, a, b, size, align) {
			panicOperands(types()[k], dst, a, b)
		}
		if !fitting(back, a, b, size, align) {
			panicOperands(types()[k], back, a, b)
		}
		twice(dst, back, a, b)
	}
}

// uncheckedTwice is twiceOf for a caller that checks the operands.
func uncheckedTwice(l simd.Level, k kind, op Op) Twice {
	pair, vectors := kernelOf(l, k, op), findTwice(l, makePair(k, op))
	return func(dst, back, a, b []byte) {
		n := len(dst)
		if vectors != nil && n >= smallestTwice {
			vectors(start(dst), start(back), start(a), start(b), uint64(n))
			return
		}
		for at := 0; at < n; at += twicePiece {
			end := min(at+twicePiece, n)
			pair(dst[at:end], a[at:end], b[at:end])
			copy(back[at:end], dst[at:end])
		}
	}
}

// smallestTwice is the number of bytes from which a twiceFunc is used.
const smallestTwice = 64

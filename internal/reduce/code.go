package reduce

import (
	"fmt"
	"reflect"
)

// A Code stands for an operation on elements of one type, by a number that means the same
// in every process of a build: a rank is told it, and combines bytes of a type that its
// own program may never have named. The zero Code is none.
type Code uint32

// CodeOf is the code of op on elements of type T. The error says why there is none.
func CodeOf[T Element](op Op) (Code, error) {
	k, err := supporting(reflect.TypeFor[T](), op)
	if err != nil {
		return 0, err
	}
	return Code(op)<<8 | Code(k) + 1, nil
}

// A FoldTwice is a Fold that stores the result in back, too, which overlaps neither dst nor a source.
type FoldTwice func(dst, back []byte, sources [][]byte)

// Fold is the operation on bytes, with the result in one place or in two, and the size of an element in bytes.
func (c Code) Fold() (f Fold, twice FoldTwice, size int, err error) {
	k, op := kind(c&0xff)-1, Op(c>>8)
	if c == 0 || k >= numKinds || c>>16 != 0 || !k.supports(op) {
		return nil, nil, 0, fmt.Errorf("reduce: no operation has code %#x", uint32(c))
	}
	inner, both := uncheckedFold(best, k, op), uncheckedTwice(best, k, op)
	stride, _ := k.layout()
	size = int(stride)
	check := func(dst []byte, sources [][]byte) {
		whole := len(sources) > 1 && len(dst)%size == 0
		for _, s := range sources {
			whole = whole && len(s) == len(dst)
		}
		if !whole {
			panic(fmt.Sprintf("reduce: a fold of %d sources into %d bytes; all must be as long, and whole elements of %d bytes", len(sources), len(dst), size))
		}
	}
	f = func(dst []byte, sources [][]byte) {
		check(dst, sources)
		inner(dst, sources)
	}
	twice = func(dst, back []byte, sources [][]byte) {
		if check(dst, sources); len(back) != len(dst) {
			panic(fmt.Sprintf("reduce: a fold into %d bytes and %d; both must be as long", len(dst), len(back)))
		}
		left, last := sources[0], len(sources)-1
		if last > 1 {
			inner(dst, sources[:last])
			left = dst
		}
		both(dst, back, left, sources[last])
	}
	return f, twice, size, nil
}

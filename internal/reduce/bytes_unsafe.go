package reduce

import (
	"fmt"
	"reflect"
	"unsafe"
)

// BytesOf returns the memory of xs as bytes, aliased, including any padding.
// The caller sees to it that T is free of pointers (see PointerFree), once, where
// T becomes known.
func BytesOf[T any](xs []T) []byte {
	// Safe: exactly the elements, and bytes have no alignment.
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(xs))), len(xs)*int(unsafe.Sizeof(*new(T))))
}

// MemoryOf is BytesOf for a slice that may be empty: by its capacity, the result still says where it lies.
func MemoryOf[T any](xs []T) []byte { return BytesOf(xs[:cap(xs)])[:len(xs)*stride[T]()] }

// Vectors are slices of elements of one type, whose memory is seen as bytes. They are aliased, and so is
// the slice that holds them: nothing is copied.
type Vectors struct {
	slices [][]byte // whose lengths are numbers of elements
	size   int      // bytes of an element
}

// VectorsOf returns xs as Vectors. T is that of BytesOf.
func VectorsOf[T any](xs [][]T) Vectors {
	// Safe: slices of all types have one layout, and as many bytes as there are elements lie in them,
	// unless these have no size, of which At returns none.
	return Vectors{unsafe.Slice((*[]byte)(unsafe.Pointer(unsafe.SliceData(xs))), len(xs)), stride[T]()}
}

// Len returns how many vectors there are.
func (v Vectors) Len() int { return len(v.slices) }

// First returns the memory of the first vector, nil if there is none.
func (v Vectors) First() []byte {
	if v.Len() == 0 {
		return nil
	}
	return v.At(0)
}

// Rest returns all vectors but the first.
func (v Vectors) Rest() Vectors { return Vectors{v.slices[1:], v.size} }

// At returns the memory of the i-th vector, as BytesOf does.
func (v Vectors) At(i int) []byte {
	// Safe: exactly the elements, of which the length of the slice is the number.
	return unsafe.Slice(unsafe.SliceData(v.slices[i]), len(v.slices[i])*v.size)
}

// Of returns mem as elements of type T, aliased. The caller sees to it that T is
// free of pointers and that every pattern of bits is a T. Of panics if mem begins
// at an address that does not suit T, is not a whole number of elements, or T has
// no size. Empty memory may begin anywhere.
func Of[T any](mem []byte) []T {
	size, align := unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T))
	if mem != nil && len(mem) == 0 && size > 0 {
		return []T{} // behind mem there may be less than a T
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	if size == 0 || uintptr(len(mem))%size != 0 || uintptr(p)%align != 0 {
		panic(fmt.Sprintf("reduce.Of: %d bytes at %p are not elements of %v (%d bytes, aligned to %d)",
			len(mem), p, reflect.TypeFor[T](), size, align))
	}
	return as[T](mem)
}

// as is Of for memory that was checked before.
func as[T any](mem []byte) []T {
	// Safe: no more elements than mem holds; the caller knows the alignment.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem))/unsafe.Sizeof(*new(T)))
}

// at returns the element that starts at byte i of mem.
func at[T any](mem []byte, i int) *T {
	// Safe: wholeElements has been asked, and i counts whole elements below len(mem).
	return (*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), i))
}

// stride returns the bytes from one element to the next.
func stride[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// wholeElements reports whether the three are of one length, a whole number of
// elements of type T, and aligned for it.
func wholeElements[T any](dst, a, b []byte) bool {
	return fitting(dst, a, b, unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T)))
}

// fitting is wholeElements for a size and an alignment.
func fitting(dst, a, b []byte, size, align uintptr) bool {
	// Safe: the addresses are only looked at. Sizes and alignments are powers
	// of two, so that one mask serves for all three.
	d, x, y := uintptr(unsafe.Pointer(unsafe.SliceData(dst))),
		uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(dst)^len(a)|len(dst)^len(b)|len(dst)&int(size-1) == 0 &&
		(d|x|y)&(align-1) == 0
}

// partlyOverlap reports whether x and y, of equal length, share memory without
// being the same slice.
func partlyOverlap(x, y []byte) bool { return start(x) != start(y) && overlap(x, y) }

// overlap reports whether x and y, of equal length, share memory.
func overlap(x, y []byte) bool {
	// Safe: the addresses are only compared.
	px, py := uintptr(unsafe.Pointer(start(x))), uintptr(unsafe.Pointer(start(y)))
	n := uintptr(len(x))
	return px < py+n && py < px+n
}

// clearPadding writes zeros between the value and the index of l.
func clearPadding[V LocValue](l *Loc[V]) {
	if unsafe.Offsetof(l.Index) == 8 && unsafe.Sizeof(l.Value) == 4 {
		// Safe: bytes 4 to 7 of a Loc, aligned, and part of no field.
		*(*uint32)(unsafe.Add(unsafe.Pointer(l), 4)) = 0
	}
}

// start returns the address of the first byte of s.
func start(s []byte) *byte { return unsafe.SliceData(s) }

package reduce

import "unsafe"

// words gives page-aligned bytes as elements.
func words[T Number](s []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))/sizeOf[T]())
}

package reduce

import (
	"reflect"
	"unsafe"
)

// TypeWord stands for a type in comparisons of calls that are over in a few
// nanoseconds: two interfaces of reflect are compared by a call.
func TypeWord[T any]() uintptr { return TypeWordOf(reflect.TypeFor[T]()) }

// TypeWordOf is TypeWord of a type that is known at run time only. It is safe
// because an interface is two words, the second of which says where the type's
// description lies; that of a type the program names is never moved nor freed.
func TypeWordOf(t reflect.Type) uintptr { return (*[2]uintptr)(unsafe.Pointer(&t))[1] }

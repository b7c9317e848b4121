//go:build capi && cgo && linux

package main

// #include <stdlib.h>
// #include <unistd.h>
// #include "bridge.h"
// static char *ggo_environ(int i) { extern char **environ; return environ ? environ[i] : NULL; }
import "C"

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Memory that C passes is valid during the call or, where the interface says so,
// longer, and has the length that C says.

// bytesAt returns n bytes of C from p.
func bytesAt(p *C.char, n uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), n) }

// memory returns n elements of C from p, which an argument with that name says. It returns an error if p is NULL, and if
// there are not as many addresses behind it.
func memory[T any](name string, p *C.char, n uint64) ([]T, error) {
	most := (math.MaxInt - uint64(address(p))) / sizeOf[T]()
	switch {
	case n > most:
		return nil, fmt.Errorf("%w: %s has %d elements; there are addresses for %d", gaspi.ErrOutOfRange, name, n, most)
	case n > 0 && p == nil:
		return nil, fmt.Errorf("%s is %w; want the address of %d elements", name, errNull, n)
	}
	return at[T](p, n), nil
}

// at returns n elements of C from p.
func at[T any](p *C.char, n uint64) []T {
	if n == 0 || p == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(p)), n)
}

// addressOf returns the address of memory that is not on the heap of Go, or of memory that is
// kept for C.
func addressOf[T any](mem []T) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(mem))) }

// sizeOf returns the bytes of an element.
func sizeOf[T any]() uint64 { return uint64(unsafe.Sizeof(*new(T))) }

// addressed is a mapping as C has it. Wake, words and generation lie in memory files.
func addressed(m gaspi.Mapping) C.ggo_mapping {
	return C.ggo_mapping{
		data:       (*C.char)(unsafe.Pointer(unsafe.SliceData(m.Data))),
		size:       C.uint64_t(len(m.Data)),
		wake:       (*C.uint32_t)(unsafe.Pointer(m.Wake)),
		words:      (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(m.Words))),
		count:      C.uint32_t(len(m.Words)),
		live:       (*C.uint64_t)(unsafe.Pointer(m.Live)),
		generation: C.uint64_t(m.Generation),
	}
}

// signalled is a BarrierMapping as C has it.
func signalled(m *gaspi.BarrierMapping) C.ggo_barrier_words {
	out := C.ggo_barrier_words{
		number: C.uint32_t(m.Number),
		count:  C.uint32_t(len(m.To)),
		from:   (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(m.From))),
	}
	for i, to := range m.To {
		peer := addressed(to)
		out.to[i] = C.ggo_signal{rank: C.gaspi_rank_t(m.Ranks[i]), word: peer.words, wake: peer.wake, live: peer.live, generation: peer.generation}
	}
	return out
}

// environEntry returns entry i of the environment of C, false behind the last.
func environEntry(i int) (string, bool) {
	entry := C.ggo_environ(C.int(i))
	return C.GoString(entry), entry != nil
}

// waited returns for how long calls of this thread have waited that the present one goes on for.
func waited() time.Duration { return time.Duration(C.ggo_take_waited()) * time.Millisecond }

// setError sets the text that gaspigo_error returns in this thread.
func setError(text string) {
	c := C.CString(text)
	C.ggo_set_error(c)
	C.free(unsafe.Pointer(c))
}

// scratch is memory of C, which free gives back.
func scratch(n uint64) *C.char { return (*C.char)(C.malloc(C.size_t(n))) }

func free(p *C.char) { C.free(unsafe.Pointer(p)) }

// plus returns the address n bytes behind p.
func plus(p *C.char, n uint64) *C.char { return (*C.char)(unsafe.Add(unsafe.Pointer(p), n)) }

// pointer is a void * of C as an address of bytes.
func pointer(p unsafe.Pointer) *C.char { return (*C.char)(p) }

// address returns where memory begins, as a key.
func address(p *C.char) uintptr { return uintptr(unsafe.Pointer(p)) }

// statesAt returns n entries of a state vector of C.
func statesAt(p *C.gaspi_state_t, n uint32) []C.gaspi_state_t { return unsafe.Slice(p, n) }

// countsAt returns n counts of C from p, nil if p is NULL.
func countsAt(p *C.gaspi_size_t, n int) []int {
	if p == nil {
		return nil
	}
	counts := make([]int, n)
	for i, c := range unsafe.Slice(p, n) {
		counts[i] = int(c)
	}
	return counts
}

// namesAt returns n strings of C from p.
func namesAt(p **C.char, n uint64) ([]string, error) {
	from, err := memory[*C.char]("ids", pointer(unsafe.Pointer(p)), n)
	if err != nil {
		return nil, err
	}
	names := make([]string, n)
	for i, c := range from {
		names[i] = C.GoString(c)
	}
	return names, nil
}

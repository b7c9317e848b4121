package reduce

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestKernelsStayInside puts the slices against pages that may not be touched,
// first at their ends, then at their starts: reading one element too far, which
// canaries cannot see, kills the test.
func TestKernelsStayInside(t *testing.T) {
	page := os.Getpagesize()
	fenced := func() []byte {
		m, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatalf("mapping three pages: %v", err)
		}
		t.Cleanup(func() { syscall.Munmap(m) })
		middle := m[page : 2*page : 2*page]
		if err := syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			t.Fatalf("opening the middle page: %v", err)
		}
		return middle
	}
	dst, back, a, b := fenced(), fenced(), fenced(), fenced()
	eachKernel(t, func(t *testing.T, s subject, l simd.Level, op Op) {
		r := rand.New(rand.NewPCG(2, 2))
		copy(a, s.random(r, len(a)/s.size))
		copy(b, s.random(r, len(b)/s.size))
		kernel, twice := kernelOf(l, s.kind, op), Twice(nil)
		if s.kind != kindComplex64 { // aligned as float32, of which it is made
			twice = twiceOf(l, s.kind, op)
		}
		for n := 0; n <= min(200*s.size, len(dst)); n += s.size {
			for _, at := range []int{0, len(dst) - n} {
				kernel(dst[at:at+n], a[at:at+n], b[at:at+n])
				if twice != nil {
					twice(dst[at:at+n], back[at:at+n], a[at:at+n], b[at:at+n])
				}
				if n == 0 {
					continue
				}
				last := at + n - s.size
				if want := oracle(s.kind, op, a[last:last+s.size], b[last:last+s.size]); !bytes.Equal(dst[last:last+s.size], want) {
					t.Fatalf("n=%d from %d: the last element is %s, want %s", n, at, hex(dst[last:last+s.size]), hex(want))
				}
			}
		}
	})
}

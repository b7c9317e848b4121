package reduce

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
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
	dst, a, b := fenced(), fenced(), fenced()
	stayInside(t, dst, a, b)
	stayInside(t, as[uint16](dst), as[uint16](a), as[uint16](b))
	stayInside(t, as[float32](dst), as[float32](a), as[float32](b))
	stayInside(t, as[float64](dst), as[float64](a), as[float64](b))
	stayInside(t, as[int64](dst), as[int64](a), as[int64](b))
}

func stayInside[T Number](t *testing.T, dst, a, b []T) {
	r := rand.New(rand.NewPCG(2, 2))
	copy(a, random[T](r, len(a)))
	copy(b, random[T](r, len(b)))
	eachKernel[T](t, func(t *testing.T, l level, op Op) {
		for n := range 200 {
			for _, at := range []int{0, len(dst) - n} {
				into(l, op, dst[at:at+n], a[at:at+n], b[at:at+n])
				for i := at; i < at+n; i++ {
					if want := oracle(op, a[i], b[i]); bits(dst[i]) != bits(want) {
						t.Fatalf("n=%d from %d: element %d is %v, want %v", n, at, i, dst[i], want)
					}
				}
			}
		}
	})
}

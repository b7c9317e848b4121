package reduce

// A pairOf is a complex number as its parts lie in memory, so that code for both
// precisions is the same.
type pairOf[T float] struct{ re, im T }

func sumComplex[T float](x, y pairOf[T]) pairOf[T] {
	return pairOf[T]{canonicalFloat(x.re + y.re), canonicalFloat(x.im + y.im)}
}

// prodComplex is the textbook formula. Go's own product may fuse an addition with
// one of its multiplications, which gives other bits, and others again with the
// operands exchanged; the conversions forbid that.
func prodComplex[T float](x, y pairOf[T]) pairOf[T] {
	return pairOf[T]{
		canonicalFloat(T(x.re*y.re) - T(x.im*y.im)),
		canonicalFloat(T(x.re*y.im) + T(x.im*y.re)),
	}
}

// scalarComplex is scalarInteger for complex numbers.
func scalarComplex[T float](op Op, dst, a, b []pairOf[T]) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch op {
	case Sum:
		for i := range dst {
			dst[i] = sumComplex(a[i], b[i])
		}
	case Prod:
		for i := range dst {
			dst[i] = prodComplex(a[i], b[i])
		}
	}
}

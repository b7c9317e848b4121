package reduce

// This file is hot: a barrier-sized reduction is one call of a function made
// here. Each operation is a loop of its own, next to the check, because a loop
// chosen inside the call costs as much again as the call. The functions that make
// them are not inlined, because the compiler would then inline nothing into what
// they make: 15 ns instead of 5.

// smallInteger returns a kernel that combines less than smallest bytes itself and
// leaves more to large.
//
//go:noinline
func smallInteger[T integer](op Op, large Kernel) Kernel {
	switch op {
	case Sum:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = *at[T](a, i) + *at[T](b, i)
			}
		}
	case Prod:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = *at[T](a, i) * *at[T](b, i)
			}
		}
	case Min:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = min(*at[T](a, i), *at[T](b, i))
			}
		}
	case Max:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = max(*at[T](a, i), *at[T](b, i))
			}
		}
	}
	return smallBits[T](op, large)
}

// smallBits is smallInteger for And, Or and Xor.
//
//go:noinline
func smallBits[T integer](op Op, large Kernel) Kernel {
	switch op {
	case And:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = *at[T](a, i) & *at[T](b, i)
			}
		}
	case Or:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = *at[T](a, i) | *at[T](b, i)
			}
		}
	case Xor:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = *at[T](a, i) ^ *at[T](b, i)
			}
		}
	}
	return large
}

// smallFloat is smallInteger for floating-point numbers.
//
//go:noinline
func smallFloat[T float](op Op, large Kernel) Kernel {
	switch op {
	case Sum:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = canonicalFloat(*at[T](a, i) + *at[T](b, i))
			}
		}
	case Prod:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = canonicalFloat(*at[T](a, i) * *at[T](b, i))
			}
		}
	case Min:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = canonicalFloat(min(*at[T](a, i), *at[T](b, i)))
			}
		}
	case Max:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[T](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[T]() {
				*at[T](dst, i) = canonicalFloat(max(*at[T](a, i), *at[T](b, i)))
			}
		}
	}
	return large
}

// smallComplex is smallInteger for complex numbers with parts of type T.
//
//go:noinline
func smallComplex[T float](op Op, large Kernel) Kernel {
	switch op {
	case Sum:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[pairOf[T]](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[pairOf[T]]() {
				*at[pairOf[T]](dst, i) = sumComplex(*at[pairOf[T]](a, i), *at[pairOf[T]](b, i))
			}
		}
	case Prod:
		return func(dst, a, b []byte) {
			if len(dst) >= smallest || !wholeElements[pairOf[T]](dst, a, b) {
				large(dst, a, b)
				return
			}
			for i := 0; i < len(dst); i += stride[pairOf[T]]() {
				*at[pairOf[T]](dst, i) = prodComplex(*at[pairOf[T]](a, i), *at[pairOf[T]](b, i))
			}
		}
	}
	return large
}

package reduce

// locInteger and locFloat are what V is for scalar code.
type (
	locInteger interface{ int32 | int64 }
	locFloat   interface{ float32 | float64 }
)

func minLocInteger[V locInteger](x, y Loc[V]) Loc[V] {
	if y.Value < x.Value || y.Value == x.Value && y.Index < x.Index {
		return y
	}
	return x
}

func maxLocInteger[V locInteger](x, y Loc[V]) Loc[V] {
	if y.Value > x.Value || y.Value == x.Value && y.Index < x.Index {
		return y
	}
	return x
}

func minLocFloat[V locFloat](x, y Loc[V]) Loc[V] {
	return locOf(min(x.Value, y.Value), x, y)
}

func maxLocFloat[V locFloat](x, y Loc[V]) Loc[V] {
	return locOf(max(x.Value, y.Value), x, y)
}

// locOf returns best with the index of the operand that has it: best is the
// value of x, that of y, or NaN.
func locOf[V locFloat](best V, x, y Loc[V]) Loc[V] {
	switch isX, isY := sameFloat(x.Value, best), sameFloat(y.Value, best); {
	case isX && isY:
		return Loc[V]{Value: canonicalFloat(best), Index: min(x.Index, y.Index)}
	case isY:
		return Loc[V]{Value: canonicalFloat(best), Index: y.Index}
	}
	return Loc[V]{Value: canonicalFloat(best), Index: x.Index}
}

// sameFloat tells -0 from +0, as Min and Max do, and no NaN from another.
func sameFloat[V locFloat](x, y V) bool {
	if x == 0 && y == 0 {
		return 1/x == 1/y
	}
	return x == y || x != x && y != y
}

// scalarLocInteger and scalarLocFloat are scalarInteger for Loc.
func scalarLocInteger[V locInteger](op Op, dst, a, b []Loc[V]) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if op == MinLoc {
			dst[i] = minLocInteger(a[i], b[i])
		} else {
			dst[i] = maxLocInteger(a[i], b[i])
		}
		clearPadding(&dst[i])
	}
}

func scalarLocFloat[V locFloat](op Op, dst, a, b []Loc[V]) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		if op == MinLoc {
			dst[i] = minLocFloat(a[i], b[i])
		} else {
			dst[i] = maxLocFloat(a[i], b[i])
		}
		clearPadding(&dst[i])
	}
}

package oracle

// Functions that do not commute, to prove that the order of ranks is kept.

// A Matrix is 2 x 2 numbers, in rows. Products of them wrap around, which is exact.
type Matrix [4]uint32

// Matrices are combined by the matrix product.
func Matrices() Elements[Matrix] {
	e := Moved(func(h uint64) Matrix {
		return Matrix{uint32(h) | 1, uint32(h >> 16), uint32(h>>32) &^ 1, uint32(h>>20) | 1} // odd determinant: nothing is lost
	})
	e.Fold = func(a, b Matrix) Matrix {
		return Matrix{
			a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3],
			a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3],
		}
	}
	return e
}

// A Permutation says where each of five things goes. It is an element whose size
// divides no cache line.
type Permutation [5]uint8

// Permutations are combined by doing one after the other.
func Permutations() Elements[Permutation] {
	e := Moved(func(h uint64) Permutation {
		p := Permutation{0, 1, 2, 3, 4}
		for i := 4; i > 0; i-- {
			j := int(h>>8) % (i + 1)
			h /= 7
			p[i], p[j] = p[j], p[i]
		}
		return p
	})
	e.Fold = func(a, b Permutation) Permutation {
		var p Permutation
		for i := range p {
			p[i] = b[a[i]%5]
		}
		return p
	}
	return e
}

// An OrderedRange says that contributions From to To-1 were combined in their order, with
// Sum the sum of what each says; Bad that others were.
type OrderedRange struct {
	From, To int32
	Bad      bool
	Sum      uint32
}

// Runs are combined by appending one to the other. Part p says that it is p.
func Runs() Elements[OrderedRange] {
	return Elements[OrderedRange]{
		Make: func(h uint64, part, _ int) OrderedRange {
			return OrderedRange{From: int32(part), To: int32(part + 1), Sum: uint32(h)}
		},
		Fold: func(a, b OrderedRange) OrderedRange {
			return OrderedRange{From: a.From, To: b.To, Bad: a.Bad || b.Bad || a.To != b.From, Sum: a.Sum + b.Sum}
		},
		Same: func(a, b OrderedRange) bool { return a == b },
	}
}

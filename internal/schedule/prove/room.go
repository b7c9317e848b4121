package prove

// A pool gives out values that were used before, as they were left; at first they are zero.
type pool[T any] struct {
	all  []*T
	used int // of all
}

// poolBlock is how many values of a pool are allocated together.
const poolBlock = 128

// next is a value that the pool has not given out since used was 0.
func (p *pool[T]) next() *T {
	if p.used == len(p.all) {
		block := make([]T, poolBlock)
		for i := range block {
			p.all = append(p.all, &block[i])
		}
	}
	p.used++
	return p.all[p.used-1]
}

// zeros is n zeros, in the memory of s if that is enough.
func zeros[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// longer is s and one element more: as it was left if that was in s before, or zero.
func longer[T any](s []T) []T {
	if n := len(s); n < cap(s) {
		return s[:n+1]
	}
	var zero T
	return append(s, zero)
}

// emptied is m without what it has, or an empty map if there is none.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return make(map[K]V)
	}
	clear(m)
	return m
}

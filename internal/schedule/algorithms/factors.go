package algorithms

// factorize is n as a product of as few factors from 2 to limit as possible, and
// of those the ones with the least sum; false if n has a larger prime factor.
// The factors descend.
func factorize(n, limit int) ([]int, bool) {
	if n == 1 {
		return nil, true
	}
	var best []int
	for f := min(n, limit); f >= 2; f-- {
		if n%f != 0 {
			continue
		}
		rest, ok := factorize(n/f, f)
		if !ok {
			continue
		}
		all := append([]int{f}, rest...)
		if best == nil || len(all) < len(best) || len(all) == len(best) && sum(all) < sum(best) {
			best = all
		}
	}
	return best, best != nil
}

// factorizeAll is factorize, but primes beyond the limit are factors too; they come
// first.
func factorizeAll(n, limit int) []int {
	var large []int
	small := 1
	for f := 2; n > 1; {
		switch {
		case n%f != 0:
			f++
			continue
		case f > limit:
			large = append(large, f)
		default:
			small *= f
		}
		n /= f
	}
	rest, _ := factorize(small, limit)
	return append(large, rest...)
}

func sum(all []int) int {
	n := 0
	for _, k := range all {
		n += k
	}
	return n
}

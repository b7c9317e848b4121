package memory

import (
	"math/rand/v2"
	"testing"
)

// Goal: numbers are never taken twice, all that is free between two is found, and free and
// eachFree say the same, over random claims and sweeps against a table of single numbers.
func TestSpaceAgainstTable(t *testing.T) {
	const from, to = 100, 400
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := space{from: from, to: to}
		var taken [to]bool
		var claims []span
		for step := range 200 {
			n := uint64(r.IntN(40))
			longest, row, free := uint64(0), uint64(0), uint64(0)
			for i := from; i < to; i++ {
				if row++; taken[i] {
					row = 0
				} else {
					free++
				}
				longest = max(longest, row)
			}
			if got := s.fits(n); got != (n <= longest) {
				t.Fatalf("seed %d step %d: %d numbers fit: %v, and the longest gap has %d", seed, step, n, got, longest)
			}
			if got := s.free(); got != free {
				t.Fatalf("seed %d step %d: %d numbers are free, want %d", seed, step, got, free)
			}
			if s.fits(n) && n > 0 {
				at := s.take(n)
				for i := at; i < at+n; i++ {
					if i < from || i >= to || taken[i] {
						t.Fatalf("seed %d step %d: number %d is taken twice or outside", seed, step, i)
					}
					taken[i] = true
				}
				claims = append(claims, span{at, at + n})
			}
			if r.IntN(20) > 0 {
				continue
			}
			s.used, taken = nil, [to]bool{} // a sweep: half of the claims stay
			r.Shuffle(len(claims), func(i, j int) { claims[i], claims[j] = claims[j], claims[i] })
			claims = claims[:len(claims)/2]
			for _, c := range claims {
				s.hold(c.from, c.to-c.from)
				for i := c.from; i < c.to; i++ {
					taken[i] = true
				}
			}
			s.eachFree(func(from, to uint64) {
				for i := from; i < to; i++ {
					if taken[i] {
						t.Fatalf("seed %d step %d: number %d is called free", seed, step, i)
					}
				}
			})
		}
	}
}

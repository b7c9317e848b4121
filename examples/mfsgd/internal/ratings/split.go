package ratings

import "math"

// HeldOutOneIn says how much is set aside to measure the error: one rating in
// this many, on average.
const HeldOutOneIn = 10

// HeldOut reports whether a rating is set aside. It depends on the names of the
// user and the item and on the seed alone, so the split is the same for any
// number of ranks and any order of the file.
func HeldOut(user, item, seed uint64) bool {
	h := mix(seed ^ 0x6d667367642f6865)
	h = mix(h ^ user)
	return mix(h^item) < math.MaxUint64/HeldOutOneIn
}

// mix is the finalizer of splitmix64: every bit of x changes about half the
// bits of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

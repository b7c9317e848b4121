package synth

import "math"

// activitySigma is the spread of the logarithm of a user's number of ratings.
// MovieLens 25M has a median of 71 and a mean of 154, which for a log-normal
// distribution means sqrt(2 ln(154/71)) = 1.24.
const activitySigma = 1.24

// activity returns how many items each user rates: at least one, at most all of
// them, log-normally distributed, shape.Ratings in total.
//
// Every rank computes it for all users (8 bytes each), which is how they agree
// on owners without talking.
func activity(shape Dimensions, seed uint64) []int64 {
	weights := make([]float64, shape.Users)
	for u := range weights {
		weights[u] = math.Exp(activitySigma * stream(seed, streamActivity, u).NormFloat64())
	}
	counts := make([]int64, shape.Users)
	scale := fit(weights, shape)
	var total int64
	for u, w := range weights {
		counts[u] = clamp(w*scale, shape.Items)
		total += counts[u]
	}
	settle(counts, shape, total)
	return counts
}

// fit finds the factor that turns weights into counts with about the right sum.
func fit(weights []float64, shape Dimensions) float64 {
	low, high := 0.0, 1.0
	sum := func(scale float64) (total int64) {
		for _, w := range weights {
			total += clamp(w*scale, shape.Items)
		}
		return total
	}
	for sum(high) < shape.Ratings && high < 1e300 {
		high *= 4
	}
	// Sixty halvings leave no digit of a float64 undecided.
	for range 60 {
		if mid := (low + high) / 2; sum(mid) < shape.Ratings {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// clamp turns an expected count into one that a user can have.
func clamp(expected float64, items int) int64 {
	return int64(min(max(expected, 1), float64(items)))
}

// settle spreads what is missing from total, one rating at a time, over users
// who have room for it. Fit rounds down, so nothing is ever to be taken away but
// where all have one rating already.
func settle(counts []int64, shape Dimensions, total int64) {
	for u := 0; total < shape.Ratings; u = (u + 1) % len(counts) {
		if counts[u] < int64(shape.Items) {
			counts[u]++
			total++
		}
	}
}

package report

import (
	"math"
	"slices"
	"time"
)

// A Summary is what remains of the times of blocks, per operation.
type Summary struct {
	Min, P50, P99, Mean float64 // microseconds
}

// Summarize divides the times of blocks by the operations in one. blocks is
// not empty; it is sorted in place.
func Summarize(blocks []time.Duration, n int) Summary {
	slices.Sort(blocks)
	total := time.Duration(0)
	for _, d := range blocks {
		total += d
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }
	return Summary{
		Min: each(blocks[0]),
		P50: each(percentile(blocks, 50)),
		P99: each(percentile(blocks, 99)),

		Mean: each(total) / float64(len(blocks)),
	}
}

// percentile is the smallest of the sorted values that p percent of them do not
// exceed (the nearest rank): a time that was measured, not one between two.
func percentile(sorted []time.Duration, p float64) time.Duration {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

package netstat

import (
	"math/bits"
	"time"
)

// Buckets of a histogram: eight to a factor of two, so that a value is known within an eighth, from
// microseconds, the unit of the system's round trips, to more than an hour.
const (
	bucketBits = 3
	buckets    = (32 - bucketBits + 1) << bucketBits
)

// A histogram counts round trips.
type histogram struct {
	count        uint64
	sum          time.Duration
	least, most  time.Duration
	perMagnitude [buckets]uint32
}

// bucketOf is the bucket of a number of microseconds.
func bucketOf(micros uint32) int {
	shift := max(0, bits.Len32(micros)-bucketBits-1)
	return shift<<bucketBits + int(micros>>shift)
}

// bucketEnd is the largest number of microseconds in a bucket.
func bucketEnd(bucket int) uint64 {
	shift := max(0, bucket>>bucketBits-1)
	return uint64(bucket-shift<<bucketBits+1)<<shift - 1
}

// add counts a round trip.
func (h *histogram) add(d time.Duration) {
	if h.count == 0 || d < h.least {
		h.least = d
	}
	h.most = max(h.most, d)
	h.count++
	h.sum += d
	h.perMagnitude[bucketOf(uint32(min(d/time.Microsecond, 1<<32-1)))]++
}

// mean is the mean of what was counted.
func (h *histogram) mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return h.sum / time.Duration(h.count)
}

// quantile is a duration that at least the part q of what was counted does not exceed, an eighth too
// long at most.
func (h *histogram) quantile(q float64) time.Duration {
	within := uint64(0)
	for i, n := range h.perMagnitude {
		if within += uint64(n); within > 0 && float64(within) >= q*float64(h.count) {
			return min(h.most, time.Duration(bucketEnd(i))*time.Microsecond)
		}
	}
	return h.most
}

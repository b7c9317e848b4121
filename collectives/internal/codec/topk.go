package codec

import (
	"encoding/binary"
	"math"
	"slices"
)

// The sparse scheme keeps some elements and says where they are.
//
//	| elements that are kept: 8 | how many are left out before each: a varint each | the elements |

// thin writes the largest elements of src to dst and returns their length, 0 if it
// is not less than that of src.
func (c *Coder) thin(dst, src []byte, lost []float64) int {
	size := c.element.Size
	n := len(src) / size
	if len(dst) < 8 {
		return 0
	}
	c.value, c.next = room(c.value, n), room(c.next, n)
	value := c.value
	c.element.load(value, src)
	for i, r := range lost {
		value[i] += r
	}
	least, ties := c.least(n)
	at, kept := 8, 0
	skipped := uint64(0)
	keep := c.order[:0] // no longer needed
	for i, v := range value {
		m := magnitude(v)
		take := m > least
		if m == least && ties > 0 {
			ties--
			take = true
		}
		c.next[i] = v
		if !take || v == 0 {
			skipped++
			continue
		}
		if at+binary.MaxVarintLen64+(kept+1)*size >= len(dst) {
			return 0
		}
		at += binary.PutUvarint(dst[at:], skipped)
		skipped = 0
		keep = append(keep, v)
		kept++
		c.next[i] = c.remains(v)
	}
	binary.LittleEndian.PutUint64(dst, uint64(kept))
	c.element.store(dst[at:], keep)
	copy(lost, c.next)
	return at + kept*size
}

// least is the magnitude of the smallest element that is kept, and how many of that
// magnitude are.
func (c *Coder) least(n int) (least float64, ties int) {
	c.order = room(c.order, n)
	endless := 0
	for i, v := range c.value {
		c.order[i] = magnitude(v)
		if math.IsInf(c.order[i], 1) {
			endless++
		}
	}
	k := max(int(math.Ceil(c.method.value*float64(n))), endless, 1)
	if k >= n {
		return math.Inf(-1), 0
	}
	least = kthLargest(c.order, k)
	ties = k
	for _, v := range c.value {
		if magnitude(v) > least {
			ties--
		}
	}
	return least, ties
}

// magnitude is what elements are compared by.
func magnitude(v float64) float64 {
	if m := math.Abs(v); m <= math.MaxFloat64 {
		return m
	}
	return math.Inf(1)
}

// remains is what is lost of v when it is kept.
func (c *Coder) remains(v float64) float64 {
	kept := [1]float64{v}
	c.element.round(kept[:])
	if rest := v - kept[0]; finite(rest) {
		return rest
	}
	return 0
}

// kthLargest is the k-th largest of all, k at least 1, and reorders them.
func kthLargest(all []float64, k int) float64 {
	for len(all) > 32 {
		a, b, c := all[0], all[len(all)/2], all[len(all)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(all)-1
		for i <= j {
			for all[i] > pivot {
				i++
			}
			for all[j] < pivot {
				j--
			}
			if i <= j {
				all[i], all[j] = all[j], all[i]
				i++
				j--
			}
		}
		switch { // all[:j+1] >= pivot, between them some that equal it, all[i:] <= pivot
		case k <= j+1:
			all = all[:j+1]
		case k <= i:
			return pivot
		default:
			k -= i
			all = all[i:]
		}
	}
	slices.Sort(all)
	return all[len(all)-k]
}

// spread undoes thin.
func (c *Coder) spread(dst, src []byte) error {
	size := c.element.Size
	n := uint64(len(dst) / size)
	if len(src) < 8 {
		return corrupt("no number of elements")
	}
	kept := binary.LittleEndian.Uint64(src)
	if kept > n || kept > uint64(len(src)) || kept*uint64(size) > uint64(len(src)-8) {
		return corrupt("%d of %d elements in %d bytes", kept, n, len(src))
	}
	cut := len(src) - int(kept)*size
	where, what := src[8:cut], src[cut:]
	clear(dst)
	at := uint64(0)
	for range kept {
		skipped, k := binary.Uvarint(where)
		if k <= 0 || skipped >= n-at {
			return corrupt("an element lies outside")
		}
		where = where[k:]
		at += skipped
		copy(dst[at*uint64(size):], what[:size])
		what = what[size:]
		at++
	}
	if len(where) > 0 {
		return corrupt("%d bytes too many", len(where))
	}
	return nil
}

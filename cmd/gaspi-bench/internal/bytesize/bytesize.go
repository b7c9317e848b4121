// Package bytesize reads and writes numbers of bytes as command lines and tables have
// them, such as 8, 1KiB or 64KiB:16MiB. It does not know what they count.
package bytesize

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// largest is the largest transfer the runtime makes unless it is configured
// otherwise.
const largest = 1 << 30

// units are the suffixes of sizes, largest first.
var units = [...]struct {
	name  string
	bytes uint64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseList reads "8,1KiB,64KiB:16MiB"; a range stands for the powers of two
// in it.
func ParseList(text string) ([]uint64, error) {
	var sizes []uint64
	for field := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(field, ":")
		first, err := Parse(low)
		if err != nil {
			return nil, err
		}
		if !isRange {
			sizes = append(sizes, first)
			continue
		}
		last, err := Parse(high)
		if err != nil {
			return nil, err
		}
		powers := powersOfTwo(first, last)
		if len(powers) == 0 {
			return nil, fmt.Errorf("there is no power of two from %s to %s; write the smaller size first", low, high)
		}
		sizes = append(sizes, powers...)
	}
	return sizes, nil
}

// Parse reads one size in bytes, with or without a unit.
func Parse(text string) (uint64, error) {
	digits, unit := text, uint64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			digits, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no size; expected a whole number of bytes such as 8, 1KiB or 64MiB", text)
	}
	if n < 1 || n > largest/unit {
		return 0, fmt.Errorf("%q is out of range; sizes go from 1 byte to %s", text, Format(largest))
	}
	return n * unit, nil
}

// powersOfTwo are those from low to high, both included. low is at least 1.
func powersOfTwo(low, high uint64) []uint64 {
	var powers []uint64
	for p := uint64(1) << bits.Len64(low-1); p <= high; p *= 2 {
		powers = append(powers, p)
	}
	return powers
}

// Format writes a size as Parse reads it, with the largest unit that
// divides it.
func Format(n uint64) string {
	for _, u := range units {
		if u.bytes > 1 && n > 0 && n%u.bytes == 0 {
			return strconv.FormatUint(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatUint(n, 10)
}

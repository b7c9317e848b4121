package collective

import (
	"fmt"
	"strconv"
	"strings"
)

// Cut sets the algorithm and its segments as the name of a candidate says.
func (c *Spec) Cut(candidate string) error {
	c.Algorithm = AlgorithmOf(candidate)
	rest := strings.TrimPrefix(candidate, c.Algorithm)
	rest, _, _ = strings.Cut(rest, " ")
	size, times, many := strings.Cut(rest, "x")
	var err error
	if many {
		if c.Segments, err = strconv.Atoi(times); err != nil {
			return fmt.Errorf("candidate %q: %w", candidate, err)
		}
	}
	if elements, cut := strings.CutPrefix(size, "/"); cut {
		n, err := strconv.Atoi(elements)
		if err != nil {
			return fmt.Errorf("candidate %q: %w", candidate, err)
		}
		c.SegmentSize = uint64(n * c.Dtype.size)
	}
	return nil
}

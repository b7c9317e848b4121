package choice

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// Settings are the wishes of a caller, or of the configuration of a team. The zero value leaves
// everything to the choice.
type Settings struct {
	Algorithm   string       // empty: the best
	SegmentSize int          // elements; 0: the best
	Concurrency int          // segments under way at a time; 0: the best
	Radix       int          // 0: that of the algorithm
	Threshold   float64      // part of the data in (0,1]; 0: all
	Engaged     float64      // part of the ranks in (0,1]; 0: all
	Partial     bool         // Threshold was set
	Some        bool         // Engaged was set
	Compress    codec.Method // Compress is how vectors are coded; zero: not
}

// Force sets what the name of a variant says; see Parse. A name that cannot be read becomes the
// name of an algorithm, which no operation has.
func (o *Settings) Force(name string) {
	want, err := Parse(name)
	if err != nil {
		o.Algorithm = name
		return
	}
	o.Algorithm = want.Algorithm
	if want.SegmentSize > 0 || want.Concurrency > 0 {
		o.SegmentSize, o.Concurrency = want.SegmentSize, want.Concurrency
	}
	o.Radix = cmp.Or(want.Radix, o.Radix)
}

// or returns o, or where o names no algorithm, o with the algorithm that is forced.
func (o Settings) or(forced Settings) Settings {
	if o.Algorithm != "" {
		return o
	}
	o.Algorithm = forced.Algorithm
	if o.SegmentSize == 0 && o.Concurrency == 0 {
		o.SegmentSize, o.Concurrency = forced.SegmentSize, forced.Concurrency
	}
	o.Radix = cmp.Or(o.Radix, forced.Radix)
	return o
}

// Parse reads what Variant.String writes: "ring", "ring/4096", "ringx4", "ring/4096x4",
// "bcube radix 4", "ringx4 staged". Whether a call is staged follows from where its buffers
// lie, and from nothing else.
func Parse(text string) (Settings, error) {
	var want Settings
	var err error
	rest, radix, hasRadix := strings.Cut(strings.TrimSuffix(text, isStaged), radixIs)
	if hasRadix {
		if want.Radix, err = parseNumber(radix); err != nil {
			return want, err
		}
	}
	rest, size, hasSize := strings.Cut(rest, "/")
	tail := &rest
	if hasSize {
		tail = &size
	}
	if i := strings.LastIndexByte(*tail, 'x'); i >= 0 && i+1 < len(*tail) && (*tail)[i+1] >= '0' && (*tail)[i+1] <= '9' {
		if want.Concurrency, err = parseNumber((*tail)[i+1:]); err != nil {
			return want, err
		}
		*tail = (*tail)[:i]
	}
	if hasSize {
		if want.SegmentSize, err = parseNumber(size); err != nil {
			return want, err
		}
	}
	want.Algorithm = rest
	return want, nil
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%.80q is no number of elements, segments or partners", s)
	}
	return n, nil
}

// ParseForced reads variants by operation: "allreduce:ring/4096x4,alltoall:pairwise".
func ParseForced(text string) (map[schedule.Operation]Settings, error) {
	forced := make(map[schedule.Operation]Settings)
	for field := range strings.SplitSeq(text, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		name, how, ok := strings.Cut(field, ":")
		op, known := operationNamed(name)
		if !ok || !known {
			return nil, fmt.Errorf("%.80q; expected an operation and an algorithm, such as allreduce:ring", field)
		}
		want, err := Parse(how)
		if err == nil {
			_, err = algorithms.Lookup(op, want.Algorithm)
		}
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", field, err)
		}
		forced[op] = want
	}
	return forced, nil
}

func operationNamed(name string) (schedule.Operation, bool) {
	for _, op := range schedule.Operations() {
		if op.String() == name {
			return op, true
		}
	}
	return 0, false
}

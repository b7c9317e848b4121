package rankrun

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/examples/program"
)

// Bytes is a flag for sizes in bytes, such as 1000, 64KiB or 1.5MB.
func Bytes(to *int64, standard string, low int64) *program.Value {
	v := &program.Value{Text: standard, Kind: "BYTES", Take: program.Into(to, func(text string) (int64, error) {
		n, err := parseBytes(text)
		if err != nil || n < low {
			return 0, fmt.Errorf("expected a number of bytes such as 4MiB, at least %d", low)
		}
		return n, nil
	})}
	if err := v.Take(standard); err != nil {
		panic("rankrun: the default of a flag is none: " + standard)
	}
	return v
}

// parseBytes reads a size.
func parseBytes(text string) (int64, error) {
	unit := int64(1)
	number := text
	for _, u := range []struct {
		name string
		size int64
	}{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1},
	} {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.size
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if n := math.Round(x * float64(unit)); err == nil && n >= 0 && n < 1<<53 {
		return int64(n), nil
	}
	return 0, fmt.Errorf("%q is no size", text)
}

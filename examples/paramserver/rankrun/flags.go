package rankrun

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Value is a flag whose text is checked while flags are parsed, so that the message
// names the flag.
type Value struct {
	Text string // shown as the default
	Kind string // shown in the help
	Take func(text string) error
}

// String is the default, or what was given.
func (v *Value) String() string { return v.Text }

// Type is what the help calls it.
func (v *Value) Type() string { return v.Kind }

// Set takes what was given.
func (v *Value) Set(text string) error {
	v.Text = text
	return v.Take(text)
}

// Whole is a flag for whole numbers within bounds, which it stores in to at once.
func Whole(to *int, standard, low, high int) *Value {
	*to = standard
	return &Value{Text: strconv.Itoa(standard), Kind: "N", Take: func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return fmt.Errorf("expected a whole number from %d to %d", low, high)
		}
		*to = n
		return nil
	}}
}

// Bytes is a flag for sizes in bytes, such as 1000, 64KiB or 1.5MB.
func Bytes(to *int64, standard string, low int64) *Value {
	v := &Value{Text: standard, Kind: "BYTES", Take: func(text string) error {
		n, err := parseBytes(text)
		if err != nil || n < low {
			return fmt.Errorf("expected a number of bytes such as 4MiB, at least %d", low)
		}
		*to = n
		return nil
	}}
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

package datatype_test

import (
	"math"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
)

// TestHalfByHand has numbers that everyone can check.
func TestHalfByHand(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name  string
		value float32
		half  datatype.Float16
		brain datatype.BFloat16
	}{
		{"zero", 0, 0, 0},
		{"negative zero", float32(math.Copysign(0, -1)), 0x8000, 0x8000},
		{"one", 1, 0x3C00, 0x3F80},
		{"minus two", -2, 0xC000, 0xC000},
		{"a third", 1.0 / 3, 0x3555, 0x3EAB},
		{"infinity", inf, 0x7C00, 0x7F80},
		{"negative infinity", -inf, 0xFC00, 0xFF80},
		{"largest half", 65504, 0x7BFF, 0x4780},
		{"last that is no infinity", 65519.996, 0x7BFF, 0x4780},
		{"first infinity", 65520, 0x7C00, 0x4780},
		{"largest float32", math.MaxFloat32, 0x7C00, 0x7F80},
		{"smallest normal half", 0x1p-14, 0x0400, 0x3880},
		{"smallest half", 0x1p-24, 0x0001, 0x3380},
		{"half of it is a tie", 0x1p-25, 0x0000, 0x3300},
		{"above the tie", 0x1.000002p-25, 0x0001, 0x3300},
		{"smallest float32", 0x1p-149, 0x0000, 0x0000},
		{"smallest brain", 0x1p-133, 0x0000, 0x0001},
		{"tie to even, down", 1 + 0x1p-11, 0x3C00, 0x3F80},
		{"tie to even, up", 1 + 0x3p-11, 0x3C02, 0x3F80},
		{"NaN with sign and payload", math.Float32frombits(0xFFC12345), 0x7E00, 0x7FC0},
		{"signalling NaN", math.Float32frombits(0x7F800001), 0x7E00, 0x7FC0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if h, b := datatype.ToFloat16(c.value), datatype.ToBFloat16(c.value); h != c.half || b != c.brain {
				t.Errorf("%v becomes %#04x and %#04x, want %#04x and %#04x", c.value, h, b, c.half, c.brain)
			}
		})
	}
}

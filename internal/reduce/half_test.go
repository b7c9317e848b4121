package reduce

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestHalfConversions goes through every half float: its value, and what becomes
// of the float32 numbers around it and around the middle between it and the next.
func TestHalfConversions(t *testing.T) {
	for _, c := range []struct {
		name   string
		format layout
		from   func(uint16) float32
		to     func(float32) uint16
	}{
		{"Float16", binary16, func(h uint16) float32 { return Float16(h).Float32() }, func(f float32) uint16 { return uint16(datatype.ToFloat16(f)) }},
		{"BFloat16", brain16, func(h uint16) float32 { return BFloat16(h).Float32() }, func(f float32) uint16 { return uint16(datatype.ToBFloat16(f)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range 1 << 16 {
				h := uint16(i)
				v, want := float64(c.from(h)), c.format.define(h)
				if math.Float64bits(v) != math.Float64bits(want) && (v == v || want == want) {
					t.Fatalf("%#04x is %v, want %v", h, v, want)
				}
				next := c.format.define(h + 1)
				middle := math.Float32bits(float32((want + next) / 2))
				for _, u := range []uint32{
					math.Float32bits(float32(want)), math.Float32bits(float32(want)) + 1, middle - 1, middle, middle + 1,
				} {
					f := math.Float32frombits(u)
					if got, want := c.to(f), c.format.nearest(float64(f)); got != want {
						t.Fatalf("%v (%#08x) becomes %#04x, want %#04x", f, u, got, want)
					}
				}
			}
		})
	}
}

// TestEveryHalf combines each of the 65536 half floats with every special one.
func TestEveryHalf(t *testing.T) {
	for _, s := range subjects()[kindFloat16 : kindBFloat16+1] {
		for _, op := range s.ops() {
			t.Run(fmt.Sprintf("%v/%s", op, s.name), func(t *testing.T) { everyHalf(t, s, op) })
		}
	}
}

func everyHalf(t *testing.T, s subject, op Op) {
	every := make([]uint16, 1<<16)
	for i := range every {
		every[i] = uint16(i)
	}
	a := BytesOf(every)
	want, got := make([]byte, len(a)), make([]byte, len(a))
	for n, special := range s.specials {
		if (simd.Instrumented || testing.Short()) && n%9 != 0 {
			continue
		}
		b := bytes.Repeat(special, len(every))
		for i := 0; i < len(a); i += 2 {
			copy(want[i:], oracle(s.kind, op, a[i:i+2], special))
		}
		for _, l := range levels() {
			for _, operands := range [][2][]byte{{a, b}, {b, a}} {
				s.into(l, op, got, operands[0], operands[1])
				if bytes.Equal(got, want) {
					continue
				}
				for i := 0; i < len(a); i += 2 {
					if !slices.Equal(got[i:i+2], want[i:i+2]) {
						t.Fatalf("%v: %s %v %s is %s, want %s", l, hex(a[i:i+2]), op, hex(special), hex(got[i:i+2]), hex(want[i:i+2]))
					}
				}
			}
		}
	}
}

// TestOnlyExactlyTheHalvesAreFloats holds that bits of a user's own type are added
// as the integers that they are.
func TestOnlyExactlyTheHalvesAreFloats(t *testing.T) {
	type mine Float16
	type plain uint16
	x, y := []mine{0x3C00}, []plain{0x3C00}
	Into(Sum, x, x, x)
	Into(Sum, y, y, y)
	if x[0] != 0x7800 || y[0] != 0x7800 {
		t.Errorf("sums are %#x and %#x, want 0x7800", x[0], y[0])
	}
	h, b := []Float16{0x3C00}, []BFloat16{0x3F80}
	Into(Sum, h, h, h)
	Into(Sum, b, b, b)
	if h[0] != 0x4000 || b[0] != 0x4000 {
		t.Errorf("1+1 is %#x and %#x, want 0x4000", h[0], b[0])
	}
	if Supports[Float16](Xor) || Supports[BFloat16](Xor) || !Supports[mine](Xor) || !Supports[plain](Xor) {
		t.Error("Xor is for the integers only")
	}
}

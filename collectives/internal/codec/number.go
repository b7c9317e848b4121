package codec

import (
	"encoding/binary"
	"math"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// load stores the numbers of src in dst, which has an entry for each.
func (e Element) load(dst []float64, src []byte) {
	le := binary.LittleEndian
	switch e.Number {
	case Float64:
		for i := range dst {
			dst[i] = math.Float64frombits(le.Uint64(src[8*i:]))
		}
	case Float32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(le.Uint32(src[4*i:])))
		}
	case Float16:
		for i := range dst {
			dst[i] = float64(reduce.Float16(le.Uint16(src[2*i:])).Float32())
		}
	case BFloat16:
		for i := range dst {
			dst[i] = float64(reduce.BFloat16(le.Uint16(src[2*i:])).Float32())
		}
	}
}

// store writes numbers to dst, each rounded to an element.
func (e Element) store(dst []byte, src []float64) {
	le := binary.LittleEndian
	switch e.Number {
	case Float64:
		for i, x := range src {
			le.PutUint64(dst[8*i:], math.Float64bits(x))
		}
	case Float32:
		for i, x := range src {
			le.PutUint32(dst[4*i:], math.Float32bits(float32(x)))
		}
	case Float16:
		for i, x := range src {
			le.PutUint16(dst[2*i:], uint16(datatype.ToFloat16(float32(x))))
		}
	case BFloat16:
		for i, x := range src {
			le.PutUint16(dst[2*i:], uint16(datatype.ToBFloat16(float32(x))))
		}
	}
}

// round makes of numbers what store keeps of them.
func (e Element) round(all []float64) {
	switch e.Number {
	case Float32:
		for i, x := range all {
			all[i] = float64(float32(x))
		}
	case Float16:
		for i, x := range all {
			all[i] = float64(datatype.ToFloat16(float32(x)).Float32())
		}
	case BFloat16:
		for i, x := range all {
			all[i] = float64(datatype.ToBFloat16(float32(x)).Float32())
		}
	}
}

// near reports whether a and b, exactly, differ by at most bound.
func near(a, b, bound float64) bool {
	d := a - b
	if m := math.Abs(d); m != bound {
		return m < bound // rounding does not cross a number that there is
	}
	// d may have been rounded to the bound. The part that was cut off is a number, too.
	v := d - a
	cut := float64(a-float64(d-v)) - float64(b+v)
	return d > 0 && cut <= 0 || d < 0 && cut >= 0
}

// finite reports whether x is neither infinite nor NaN.
func finite(x float64) bool { return x-x == 0 }

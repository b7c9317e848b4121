package reduce

// The infinities and the only NaNs that a reduction returns.
const (
	inf16, nan16       = 0x7C00, 0x7E00
	infBrain, nanBrain = 0x7F80, 0x7FC0
)

// ordered16 returns a number that orders 16-bit floats as integers, NaN apart,
// with -0 just below +0. It is its own inverse.
func ordered16(h int16) int16 { return h ^ int16(uint16(h>>15)>>1) }

// isNaN16 reports whether the bits of either are above infinity, the sign aside.
func isNaN16(x, y, inf int16) bool { return max(x&0x7FFF, y&0x7FFF) > inf }

// min16 and max16 are Min and Max for both formats, given by their infinity.
// Conversion to float32 and back would give the same.
func min16(x, y, inf, nan int16) int16 {
	if isNaN16(x, y, inf) {
		return nan
	}
	return ordered16(min(ordered16(x), ordered16(y)))
}

func max16(x, y, inf, nan int16) int16 {
	if isNaN16(x, y, inf) {
		return nan
	}
	return ordered16(max(ordered16(x), ordered16(y)))
}

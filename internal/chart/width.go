package chart

// widths are the widths, in thousandths of the font size, of the characters from the space to
// the tilde in Helvetica, Liberation Sans and Arial.
var widths = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// textWidth returns how much room text needs, in points: its width in Helvetica and an
// eighth, since a reader who lacks all three fonts gets a wider one. Characters beyond
// ASCII count as a digit.
func textWidth(text string, size float64) float64 {
	sum := 0
	for _, r := range text {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			sum += int(widths[i])
		} else {
			sum += 556
		}
	}
	return 1.125 * float64(sum) * size / 1000
}

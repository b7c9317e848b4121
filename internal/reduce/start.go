package reduce

// SameStart reports whether two slices begin at the same address, which an empty
// part of a slice does too.
func SameStart(x, y []byte) bool { return start(x) == start(y) }

package sys

// Relax is what a loop does between two looks at a word that another core will
// write: the processor's PAUSE. Without it the processor runs ahead with dozens
// of loads of the word, and throws that work away when the word changes, just
// when every nanosecond counts.
func Relax()

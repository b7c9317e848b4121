package schedule

// A Range is n elements from element Off.
type Range struct{ Off, Len int }

// FixedSize cuts n elements into segments of size elements, the last of which
// has what is left: Listing 1 of the paper on pipelined allreduce. There is at
// least one segment.
func FixedSize(n, size int) []Range {
	segments := 1
	if n > size {
		segments = (n + size - 1) / size
	}
	return cut(n, segments, size)
}

// FixedConcurrency cuts n elements into so many segments, the last of which also
// has what does not divide; fewer elements than segments are one segment:
// Listing 2 of the paper.
func FixedConcurrency(n, segments int) []Range {
	if n < segments {
		segments = 1
	}
	return cut(n, segments, n/segments)
}

// cut makes so many segments of size elements, and gives the last the rest.
func cut(n, segments, size int) []Range {
	all := make([]Range, segments)
	for i := range all {
		all[i] = Range{i * size, size}
	}
	all[segments-1].Len = n - (segments-1)*size
	return all
}

// Chunk is the i-th of parts parts of n elements. Their lengths differ by at
// most one, and the longer ones come first.
func Chunk(n, parts, i int) Range {
	q, r := n/parts, n%parts
	return Range{i*q + min(i, r), q + btoi(i < r)}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

package ssp

import "math/bits"

// A shape is a member's place in the pattern of communication: the corners of a
// hypercube with the largest power of two that fits, in which the partner in
// step k is the index XOR 2^k; and for every member beyond, an extra, the corner
// of the same index without the highest bit, which speaks for it.
//
// A link connects two members in both directions. Links of a corner: those of
// steps 0 to dims-1, then that to its extra if it has one. An extra has one link.
type shape struct {
	size  int // members
	index int // of this member
	dims  int // dimensions of the cube
}

func newShape(size, index int) shape {
	return shape{size: size, index: index, dims: bits.Len(uint(size)) - 1}
}

func (s shape) corners() int { return 1 << s.dims }

// extra reports whether this member is not part of the cube.
func (s shape) extra() bool { return s.index >= s.corners() }

// speaks reports whether this member speaks for an extra.
func (s shape) speaks() bool { return s.index+s.corners() < s.size }

// links is the number of links.
func (s shape) links() int {
	switch {
	case s.extra():
		return 1
	case s.speaks():
		return s.dims + 1
	default:
		return s.dims
	}
}

// peer is the index of the member at the other end of a link.
func (s shape) peer(link int) int {
	switch {
	case s.extra():
		return s.index - s.corners()
	case link == s.dims:
		return s.index + s.corners()
	default:
		return s.index ^ 1<<link
	}
}

// linkThere is the number that a link has at its other end.
func (s shape) linkThere(link int) int {
	switch {
	case s.extra():
		return s.dims
	case link == s.dims:
		return 0
	default:
		return link
	}
}

package segment

import "fmt"

// A Span is a range of a segment's data whose bounds were checked when it was
// made. It aliases the segment's memory and keeps it mapped. The zero Span is
// empty and belongs to no segment.
type Span struct {
	seg    *Segment
	offset uint64
	size   uint64
}

// Span makes the span [offset, offset+size) in bytes. It returns an error that
// matches base.ErrOutOfRange if that leaves the segment.
func (s *Segment) Span(offset, size uint64) (Span, error) {
	if err := s.check(offset, size); err != nil {
		return Span{}, err
	}
	return Span{seg: s, offset: offset, size: size}, nil
}

// All is the span of all the data.
func (s *Segment) All() Span { return Span{seg: s, size: s.Size()} }

// Segment is the segment the span lies in, nil for the zero Span.
func (x Span) Segment() *Segment { return x.seg }

// Offset is where the span begins, in bytes from the start of the data.
func (x Span) Offset() uint64 { return x.offset }

// Len is the number of bytes.
func (x Span) Len() uint64 { return x.size }

// Bytes is the memory of the span, aliased.
func (x Span) Bytes() []byte {
	if x.seg == nil {
		return nil
	}
	return x.seg.data[x.offset : x.offset+x.size : x.offset+x.size]
}

// Sub is the span of size bytes from offset within x.
func (x Span) Sub(offset, size uint64) (Span, error) {
	if offset > x.size || size > x.size-offset {
		return Span{}, outOfRange(offset, size, x.size)
	}
	return Span{seg: x.seg, offset: x.offset + offset, size: size}, nil
}

// String is the range as messages show it.
func (x Span) String() string { return fmt.Sprintf("[%d:+%d]", x.offset, x.size) }

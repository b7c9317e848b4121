package limit

import (
	"errors"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Reach is the vectors of all ranks as this rank addresses them.
func (b *Memory) Reach(s *CallShape, own Buffers) (*Vectors, error) {
	v := &Vectors{}
	for r := range b.P.Size() {
		in, err := b.vectorOf(gaspi.Rank(r), own.In)
		if err != nil {
			return nil, err
		}
		v.In = append(v.In, in)
		out := in
		if !s.InPlace() {
			if out, err = b.vectorOf(gaspi.Rank(r), own.Out); err != nil {
				return nil, err
			}
		}
		v.out = append(v.out, out)
	}
	return v, nil
}

// vectorOf is the vector of rank r that mem is of this one.
func (b *Memory) vectorOf(r gaspi.Rank, mem []byte) ([]byte, error) {
	for _, id := range b.P.Segments() {
		seg, err := b.P.Segment(id)
		if err != nil {
			return nil, err
		}
		off, ok := seg.OffsetOf(mem)
		if !ok {
			continue
		}
		span, err := b.Map(seg, r, off, uint64(len(mem)))
		if err != nil {
			return nil, err
		}
		return span.Bytes(), nil
	}
	return nil, errors.New("a vector lies in no segment")
}

package executor

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file does encodes, decodes and puts of coded forms. A form lies in a region
// that has room for the longest; its header says how much of it is in use, and
// only that travels.

// A coding is what an executable knows of its coded forms.
type coding struct {
	coder *codec.Coder // nil if there are none
	lost  [][]float64  // what coding lost of each source, if that is kept

	run          uint32 // whose counts these are
	coded, whole int    // bytes of forms, and of what they stand for
}

// forget forgets what was lost.
func (k *coding) forget() {
	for _, lost := range k.lost {
		clear(lost)
	}
}

// holdsForm reports whether a region holds a coded form.
func (c *compiler) holdsForm(r schedule.Region) bool {
	return slices.ContainsFunc(c.forms, r.Overlaps)
}

// code resolves the operands of an encode or a decode.
func (c *compiler) code(in *instruction, s *schedule.Step) error {
	k := &c.x.coding
	if k.coder == nil {
		coder, err := codec.NewCoder(c.b.Compress, c.b.Element)
		if err != nil {
			return err
		}
		k.coder = coder
	}
	w, err := c.work(in, s)
	if err != nil {
		return err
	}
	if s.Kind == schedule.Encode && c.b.Compress.Lossy() && c.b.Remember {
		w.lost = int32(len(k.lost))
		k.lost = append(k.lost, make([]float64, s.Src[0].Len))
	}
	return nil
}

// code does an encode or a decode.
func (e *Execution) code(in *instruction) error {
	k := &e.of.coding
	if k.run != e.number {
		k.run, k.coded, k.whole = e.number, 0, 0
	}
	w := &e.of.works[in.at]
	to, from := e.of.sides(w)
	dst, src := e.bytes(&to[0]), e.bytes(&from[0])
	if in.kind == schedule.Encode {
		var lost []float64
		if w.lost >= 0 {
			lost = k.lost[w.lost]
		}
		k.coded += k.coder.Encode(dst, src, lost)
		k.whole += len(src)
		return nil
	}
	if corrupt := e.member.BeforeDecode; corrupt != nil {
		corrupt(src)
	}
	if err := k.coder.Decode(dst, src); err != nil {
		return err
	}
	n, err := codec.Length(src)
	k.coded += n
	k.whole += len(dst)
	return err
}

// form is the part of a span that the form at its beginning has.
func form(s gaspi.Span) (gaspi.Span, error) {
	n, err := codec.Length(s.Bytes())
	if err != nil {
		return s, err
	}
	return s.Sub(0, uint64(n))
}

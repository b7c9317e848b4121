package collectives

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file does encodes, decodes and puts of coded forms. A form lies in a region
// that has room for the longest; its header says how much of it is in use, and
// only that travels.

// A coding is what a plan knows of its coded forms.
type coding struct {
	coder *codec.Coder // nil if there are none
	lost  [][]float64  // what coding lost of each source, if that is kept

	run          uint32 // whose counts these are
	coded, whole int    // bytes of forms, and of what they stand for
}

// Ratio is the bytes that coded forms had in the last run by the bytes that they
// stood for, of all vectors that this member coded or decoded; 1 if there were none.
func (p *Plan) Ratio() float64 {
	if p.prog.coding.whole == 0 {
		return 1
	}
	return float64(p.prog.coding.coded) / float64(p.prog.coding.whole)
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
	k := &c.p.prog.coding
	how := c.p.call.Options.Compress
	if k.coder == nil {
		coder, err := codec.NewCoder(how, c.p.task.elem.coded())
		if err != nil {
			return err
		}
		k.coder = coder
	}
	dst, err := c.operand(s.Dst[0])
	if err != nil {
		return err
	}
	src, err := c.operand(s.Src[0])
	if err != nil {
		return err
	}
	in.dst, in.from = []operand{dst}, []operand{src}
	if s.Kind == schedule.Encode && how.Lossy() && c.p.key.plan != 0 {
		in.lost = make([]float64, s.Src[0].Len)
		k.lost = append(k.lost, in.lost)
	}
	return nil
}

// code does an encode or a decode.
func (r *run) code(in *instruction) error {
	k := &r.p.prog.coding
	if k.run != r.number {
		k.run, k.coded, k.whole = r.number, 0, 0
	}
	dst, src := r.bytes(&in.dst[0]), r.bytes(&in.from[0])
	if in.kind == schedule.Encode {
		k.coded += k.coder.Encode(dst, src, in.lost)
		k.whole += len(src)
		return nil
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

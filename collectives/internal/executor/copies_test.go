package executor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: joined copies are those that there were, in their order.
// Method: lanes at random of signals, of folds of two operands and of copies among two memories, of two lengths, most
// of which go on as the one before did. The operands of the instructions are written out again and compared.
func TestCopiesAreJoined(t *testing.T) {
	draw := rand.New(rand.NewPCG(4, 7))
	joined := 0
	for range 5000 {
		c := compiler{x: &Executable{}, open: make([]bool, 1)}
		var code lane
		var want []operand // destination and source of each copy; two that are empty for a signal
		dst, src, up, on := operand{n: 8}, operand{n: 8}, 0, 0
		for range 16 {
			if draw.IntN(8) == 0 {
				code = c.with(code, &instruction{kind: schedule.Signal, posts: true}, 0)
				want = append(want, operand{}, operand{})
				continue
			}
			switch draw.IntN(8) {
			case 0:
				dst.mem, up = draw.Int32N(2), 8*draw.IntN(3)
			case 1:
				src.mem, on = draw.Int32N(2), 8*(draw.IntN(5)-2)
			case 2:
				dst.n = 8 + 8*draw.IntN(2)
				src.n = dst.n
			case 3:
				src.off += 8
			case 4:
				dst.off += 8
			}
			dst.off, src.off = dst.off+up, src.off+on
			in, parts := instruction{kind: schedule.Combine, arity: single, at: int32(len(c.x.parts))}, []operand{dst, src}
			if draw.IntN(8) == 0 {
				in.arity, parts = pair, append(parts, src)
			}
			c.x.parts = append(c.x.parts, parts...)
			code = c.with(code, &in, 0)
			want = append(want, parts...)
		}
		if got := writtenOut(c.x, code); !slices.Equal(got, want) {
			t.Fatalf("the lane\n%+v\nof parts %v is\n%v\nwant\n%v", code, c.x.parts, got, want)
		}
		joined += 16 - len(code)
	}
	if joined < 5000 {
		t.Errorf("only %d of 80000 instructions were joined to one before", joined)
	}
}

// writtenOut is the operands of each combine of a lane.
func writtenOut(x *Executable, code lane) (all []operand) {
	for i := range code {
		in := &code[i]
		if in.kind != schedule.Combine {
			all = append(all, operand{}, operand{})
			continue
		}
		parts, by := x.parts[in.at:], operand{mem: 1}
		if in.arity == pair {
			all = append(all, parts[:3]...)
			continue
		}
		if in.arity == copies {
			by = parts[2]
		}
		dst, src := parts[0], parts[1]
		for range by.mem {
			all = append(all, dst, src)
			dst.off, src.off = dst.off+by.off, src.off+by.n
		}
	}
	return all
}

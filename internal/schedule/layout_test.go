package schedule

import (
	"fmt"
	"slices"
	"testing"
)

// located is where a region really lies.
func located(l Layout, r Region) string {
	s := ""
	for _, at := range l.locate(nil, r) {
		s += at.String() + " "
	}
	return s
}

func TestInPlace(t *testing.T) {
	counts := []int{2, 0, 3, 1}
	for _, c := range []struct {
		op      Operation
		buf     Buffer
		rank    int
		off, n  int
		want    string
		uneven  bool
		outside bool // not in place
	}{
		{op: AllReduce, buf: In, rank: 1, off: 2, n: 3, want: "1:out[2:5] "},
		{op: AllReduce, buf: Out, rank: 1, off: 2, n: 3, want: "1:out[2:5] "},
		{op: AllReduce, buf: In, rank: 1, off: 2, n: 3, want: "1:in[2:5] ", outside: true},
		{op: Scan, buf: In, rank: 3, off: 0, n: 5, want: "3:out[0:5] "},
		{op: ExScan, buf: In, rank: 0, off: 1, n: 1, want: "0:out[1:2] "},
		{op: Reduce, buf: In, rank: 2, off: 0, n: 5, want: "2:out[0:5] "},
		{op: Reduce, buf: In, rank: 1, off: 0, n: 5, want: "1:in[0:5] "},
		{op: Broadcast, buf: In, rank: 2, off: 0, n: 5, want: "2:out[0:5] "},
		{op: Broadcast, buf: In, rank: 2, off: 0, n: 5, want: "2:out[0:5] ", outside: true},
		{op: AllGather, buf: In, rank: 2, off: 1, n: 4, want: "2:out[11:15] "},
		{op: AllGather, buf: In, rank: 2, off: 1, n: 2, want: "2:out[3:5] ", uneven: true},
		{op: AllGather, buf: In, rank: 1, off: 0, n: 0, want: "1:out[2:2] ", uneven: true},
		{op: AllGather, buf: Out, rank: 1, off: 7, n: 2, want: "1:out[7:9] "},
		{op: Gather, buf: In, rank: 2, off: 0, n: 5, want: "2:out[10:15] "},
		{op: Gather, buf: In, rank: 1, off: 0, n: 5, want: "1:in[0:5] "},
		{op: Scatter, buf: Out, rank: 2, off: 0, n: 5, want: "2:in[10:15] "},
		{op: Scatter, buf: Out, rank: 1, off: 0, n: 5, want: "1:out[0:5] "},
		{op: ReduceScatter, buf: Out, rank: 3, off: 1, n: 3, want: "3:in[16:19] "},
		{op: ReduceScatter, buf: In, rank: 3, off: 1, n: 3, want: "3:in[1:4] "},
		{op: AllToAll, buf: In, rank: 3, off: 1, n: 3, want: "3:out[1:4] "},
		{op: Barrier, buf: In, rank: 3, off: 0, n: 0, want: "3:in[0:0] "},
	} {
		call := Call{Op: c.op, Size: 4, Root: 2, Count: 5, InPlace: !c.outside}
		if c.uneven {
			call.Counts = counts
		}
		r := Region{Rank: int32(c.rank), Buf: c.buf, Off: c.off, Len: c.n}
		if got := located(call.Layout(), r); got != c.want {
			t.Errorf("%v, in place %v: %v lies at %s, not at %s", c.op, call.InPlace, r, got, c.want)
		}
	}
}

func TestMemoryOfThePlanStaysWhereItIs(t *testing.T) {
	call := Call{Op: AllReduce, Size: 4, Count: 5, InPlace: true}
	for _, buf := range []Buffer{Scratch, Flip} {
		r := Region{Rank: 1, Buf: buf, Off: 3, Len: 2}
		if got := located(call.Layout(), r); got != r.String()+" " {
			t.Errorf("%v lies at %s", r, got)
		}
	}
}

// pieces is a layout of every buffer.
func pieces(all ...Piece) Layout { return func(Buffer, int) []Piece { return all } }

func TestLocateCuts(t *testing.T) {
	l := pieces(Piece{At: 0, Len: 3, Buf: Scratch, Off: 10}, Piece{At: 3, Len: 0, Buf: In, Off: 0}, Piece{At: 3, Len: 4, Buf: Out, Off: 1})
	for _, c := range []struct {
		off, n int
		want   string
	}{
		{0, 7, "0:scratch[10:13] 0:out[1:5] "},
		{2, 2, "0:scratch[12:13] 0:out[1:2] "},
		{3, 4, "0:out[1:5] "},
		{0, 3, "0:scratch[10:13] "},
		{5, 1, "0:out[3:4] "},
		{4, 0, "0:scratch[10:10] "},
	} {
		if got := located(l, Region{Buf: In, Off: c.off, Len: c.n}); got != c.want {
			t.Errorf("[%d:%d] lies at %s, not at %s", c.off, c.off+c.n, got, c.want)
		}
	}
}

func TestWhatLiesNowhereIsABug(t *testing.T) {
	l := pieces(Piece{At: 0, Len: 3, Buf: Scratch, Off: 10}, Piece{At: 3, Len: 4, Buf: Out, Off: 1})
	for _, r := range []Region{{Buf: In, Off: 0, Len: 8}, {Buf: In, Off: 6, Len: 2}, {Buf: In, Off: 7, Len: 1}} {
		t.Run(r.String(), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("%v lies at %s", r, located(l, r))
				}
			}()
			l.locate(nil, r)
		})
	}
}

func TestWithin(t *testing.T) {
	same := func(buf Buffer, rank int) []Piece { return nil }
	shift := shifted(Range{4, 6})
	halves := pieces(Piece{At: 0, Len: 7, Buf: Scratch, Off: 0}, Piece{At: 7, Len: 7, Buf: Scratch, Off: 20})
	place := (&Call{Op: AllReduce, Size: 2, Count: 14, InPlace: true}).Layout()
	r := Region{Rank: 1, Buf: In, Off: 1, Len: 4}
	for _, c := range []struct {
		name         string
		outer, inner Layout
		want         string
	}{
		{"neither", nil, nil, "1:in[1:5] "},
		{"no outer", nil, shift, "1:in[5:9] "},
		{"no inner", shift, nil, "1:in[5:9] "},
		{"inner says nothing of it", shift, same, "1:in[5:9] "},
		{"outer says nothing of it", same, shift, "1:in[5:9] "},
		{"a segment of what is in place", place, shift, "1:out[5:9] "},
		{"a segment of a segment", shift, shifted(Range{1, 5}), "1:in[6:10] "},
		{"a segment across a cut", halves, shift, "1:scratch[5:7] 1:scratch[20:22] "},
	} {
		if got := located(within(c.outer, c.inner), r); got != c.want {
			t.Errorf("%s: %v lies at %s, not at %s", c.name, r, got, c.want)
		}
	}
}

// TestSegmentsOfBlocks tests that the blocks of all segments are the blocks of the
// whole, of every operation, buffer and rank.
func TestSegmentsOfBlocks(t *testing.T) {
	uneven := []int{5, 0, 2, 7}
	var square []int
	for i := range 16 {
		square = append(square, (i*5+1)%8)
	}
	for _, op := range Operations() {
		for _, counts := range [][]int{nil, uneven, square} {
			c := Call{Op: op, Size: 4, Count: 7, Counts: counts}
			if counts != nil {
				c.Count = 0
			}
			if c.Line = 1; c.Check() != nil {
				continue
			}
			for rank := range 4 {
				for _, buf := range []Buffer{In, Out} {
					t.Run(fmt.Sprintf("%v/%v/%d/%v", op, counts, rank, buf), func(t *testing.T) {
						covers(t, &c, buf, rank)
					})
				}
			}
		}
	}
}

// covers tests that segments of two elements per block cover a vector, each element
// once.
func covers(t *testing.T, c *Call, buf Buffer, rank int) {
	length := func(c *Call) int {
		if buf == In {
			return c.InLen(rank)
		}
		return c.OutLen(rank)
	}
	var seen []int
	for _, p := range c.segments(Segmentation{Size: 2}) {
		n := length(&p.call)
		for _, r := range p.layout.locate(nil, Region{Rank: int32(rank), Buf: buf, Len: n}) {
			if r.Buf != buf || int(r.Rank) != rank {
				t.Errorf("%v is not of the vector", r)
			}
			for i := range r.Len {
				seen = append(seen, r.Off+i)
			}
			n -= r.Len
		}
		if n != 0 {
			t.Errorf("%d elements of a segment are not there", n)
		}
	}
	slices.Sort(seen)
	if n := length(c); len(seen) != n || len(slices.Compact(seen)) != n || n > 0 && (seen[0] != 0 || seen[n-1] != n-1) {
		t.Errorf("segments have elements %v of %d", seen, n)
	}
}

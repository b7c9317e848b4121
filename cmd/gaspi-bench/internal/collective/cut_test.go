package collective

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct {
		candidate string
		want      Spec
	}{
		{"ring", Spec{Algorithm: "ring"}},
		{"ringx8", Spec{Algorithm: "ring", Segments: 8}},
		{"double-tree/4096", Spec{Algorithm: "double-tree", SegmentSize: 4096 * 8}},
		{"ring/4096x4 staged", Spec{Algorithm: "ring", SegmentSize: 4096 * 8, Segments: 4}},
		{"ring radix 3", Spec{Algorithm: "ring"}},
	} {
		got := Spec{Dtype: DType{size: 8}}
		if err := got.Cut(c.candidate); err != nil {
			t.Errorf("%s: %v", c.candidate, err)
		}
		if got.Algorithm != c.want.Algorithm || got.Segments != c.want.Segments || got.SegmentSize != c.want.SegmentSize {
			t.Errorf("%s: %s in %d of %d bytes; want %s in %d of %d", c.candidate,
				got.Algorithm, got.Segments, got.SegmentSize, c.want.Algorithm, c.want.Segments, c.want.SegmentSize)
		}
	}
}

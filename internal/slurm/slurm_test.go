package slurm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCounts(t *testing.T) {
	for text, want := range map[string][]int{
		"1":         {1},
		"4,2,1(x2)": {4, 2, 1, 1},
		"16(x3),1":  {16, 16, 16, 1},
		"":          nil, "x": nil, "4,": nil, "0": nil, "-1": nil, "2(x0)": nil, "2(x": nil, "2(3)": nil, "1(x99999999)": nil,
		"1(x5)": nil, "1(x3),1(x2)": nil, "65537": nil,
	} {
		got, err := Counts(text, 4)
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, d)
		}
	}
}

func TestNodes(t *testing.T) {
	for list, want := range map[string][]string{
		"h1": {"h1"}, "h[1-4]": {"h1", "h2", "h3", "h4"}, "gpu[007-009,20],login1": {"gpu007", "gpu008", "gpu009", "gpu20", "login1"},
		"a,b": {"a", "b"}, "n[3,5-7]": {"n3", "n5", "n6", "n7"}, "my-host,x": {"my-host", "x"},
		"r[1-2]n[3-4].local": {"r1n3.local", "r1n4.local", "r2n3.local", "r2n4.local"}, "": nil, "h[1-": nil, "a,,b": nil,
	} {
		got, err := Nodes(list)
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v (-want +got):\n%s", list, err, d)
		}
	}
}

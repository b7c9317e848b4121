package starters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTasksPerNode(t *testing.T) {
	for text, want := range map[string][]int{
		"1":         {1},
		"4,2,1(x2)": {4, 2, 1, 1},
		"16(x3),1":  {16, 16, 16, 1},
		"":          nil, "x": nil, "4,": nil, "0": nil, "-1": nil, "2(x0)": nil, "2(x": nil, "2(3)": nil, "1(x99999999)": nil,
	} {
		got, err := tasksPerNode(text)
		if d := cmp.Diff(want, got); d != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, d)
		}
	}
}

func TestFirstHost(t *testing.T) {
	for list, want := range map[string]string{
		"h1": "h1", "h[1-4]": "h1", "gpu[007-012,20],login1": "gpu007", "a,b": "a", "n[3,5-7]": "n3",
		"r[1-2]n[3-4].local": "r1n3.local", "my-host,x": "my-host", "": "",
	} {
		if got := firstHost(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

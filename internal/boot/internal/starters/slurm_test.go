package starters

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/boot/internal/variables"
)

func TestFirstHost(t *testing.T) {
	for list, want := range map[string]string{
		"h1": "h1", "h[1-4]": "h1", "gpu[007-012,20],login1": "gpu007", "a,b": "a", "n[3,5-7]": "n3",
		"r[1-2]n[3-4].local": "r1n3.local", "my-host,x": "my-host", "": "", "h[1-": "", "a b": "",
	} {
		v := &variables.Reader{Lookup: func(name string) (string, bool) { return list, name == slurmNodes }}
		got := FirstHost(v)
		if (v.Err != nil) != (want == "") || v.Err == nil && got != want {
			t.Errorf("%q: %q, %v; want %q", list, got, v.Err, want)
		}
	}
}

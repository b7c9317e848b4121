package supervise

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRankEnviron(t *testing.T) {
	cases := []struct {
		name                        string
		inherited, added, own, want []string
	}{
		{"nothing", nil, nil, []string{"GASPI_RANK=0"}, []string{"GASPI_RANK=0"}},
		{"kept as it is", []string{"A=1", "odd", "=x", "A=2", "E="}, nil, nil, []string{"A=1", "odd", "=x", "A=2", "E="}},
		{"replaced", []string{"A=1", "B=2", "A=3"}, []string{"A=4"}, nil, []string{"B=2", "A=4"}},
		{"the last one counts", nil, []string{"A=1", "B=2", "A=3"}, nil, []string{"B=2", "A=3"}},
		{"own ones come first", []string{"T=1", "A=1"}, []string{"T=2"}, []string{"T=3"}, []string{"A=1", "T=3"}},
		{"stale", []string{"GASPI_RANK=7", "GASPI_BOOT_FD=9", "GASPI_OTHER=x"}, nil, []string{"GASPI_RANK=0"}, []string{"GASPI_OTHER=x", "GASPI_RANK=0"}},
	}
	for _, c := range cases {
		got := environ(c.inherited, c.added, c.own)
		if len(got) == 0 {
			got = nil
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

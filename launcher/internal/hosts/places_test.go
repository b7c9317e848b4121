package hosts

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURMD_NODENAME", "node7")
	cases := []struct {
		name  string
		hosts []Entry
		ranks int
		want  []Place
	}{
		{"no hosts", nil, 3, []Place{{Name: "this host", Here: true, Ranks: 3}}},
		{"names of this host", []Entry{{Name: "a", Slots: 1}, {Name: "localhost", Slots: 1}, {Name: "::1", Slots: 2}, {Name: own, Slots: 1}, {Name: "node7", Slots: 1}, {Name: "b", Slots: 9}}, 8,
			[]Place{{Name: "a", Number: 0, Ranks: 1}, {Name: "localhost", Number: 1, Here: true, First: 1, Ranks: 5}, {Name: "b", Number: 2, First: 6, Ranks: 2}}},
		{"hosts without ranks", []Entry{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}, 2, []Place{{Name: "a", Ranks: 2}}},
		{"another user", []Entry{{Name: "me@localhost", Slots: 1}}, 1, []Place{{Name: "me@localhost", Ranks: 1}}},
	}
	for _, c := range cases {
		got, err := Places(c.hosts, c.ranks)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

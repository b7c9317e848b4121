package supervise

import "testing"

func TestParseStat(t *testing.T) {
	cases := []struct {
		name, stat string
		state      byte
		group      int
	}{
		{"plain", "12 (sleep) S 1 34 34 0", 'S', 34},
		{"odd name", "12 (a ) Z 9 (b) R 1 35 34 0", 'R', 35},
		{"cut off", "12 (sleep) S", 0, 0},
		{"empty", "", 0, 0},
	}
	for _, c := range cases {
		if state, group := parseStat([]byte(c.stat)); state != c.state || group != c.group {
			t.Errorf("%s: %q, %d; want %q, %d", c.name, state, group, c.state, c.group)
		}
	}
}

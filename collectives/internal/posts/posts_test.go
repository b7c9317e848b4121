package posts

import (
	"math"
	"testing"
)

func TestReached(t *testing.T) {
	for _, c := range []struct {
		name       string
		posted, of uint32
		want       bool
	}{
		{"as many", 7, 7, true},
		{"more", 8, 7, true},
		{"fewer", 6, 7, false},
		{"more, wrapped around", 3, math.MaxUint32/2 - 3, true},
		{"fewer, wrapped around", math.MaxUint32/2 - 3, 3, false},
	} {
		if got := Reached(Value(c.posted), Value(c.of)); got != c.want {
			t.Errorf("%s: %d posts reach %d: %v", c.name, c.posted, c.of, got)
		}
		if Value(c.posted) == 0 {
			t.Errorf("%s: post %d has the value 0", c.name, c.posted)
		}
	}
	if Reached(0, Value(1)) {
		t.Error("a notification that was never posted reaches the first post")
	}
}

package phrase

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		d              time.Duration
		seconds, limit string
	}{
		{0, "0.0 ms", "0 s"},
		{1230 * time.Microsecond, "1.2 ms", "1.23ms"},
		{42 * time.Millisecond, "42 ms", "42 ms"},
		{1200 * time.Millisecond, "1.2 s", "1.2s"},
		{10 * time.Second, "10.0 s", "10 s"},
		{90 * time.Second, "1m30s", "1m30s"},
	} {
		if seconds, limit := Seconds(c.d), Limit(c.d); seconds != c.seconds || limit != c.limit {
			t.Errorf("%d ns: %q and %q, want %q and %q", c.d, seconds, limit, c.seconds, c.limit)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range []string{"ranks", "rank", "ranks"} {
		if got := Plural(n, "rank", "ranks"); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for want, list := range map[string][]int{
		"": nil, "2": {2}, "1 and 2": {1, 2}, "1-3": {1, 2, 3}, "1, 3-6 and 9": {1, 3, 4, 5, 6, 9}, "4, 5 and 7-9": {4, 5, 7, 8, 9},
		"0, 2, 4, 6, 8, 10, 12 and 14":         {0, 2, 4, 6, 8, 10, 12, 14},
		"0, 2, 4, 6, 8, 10, 12, 14 and others": {0, 2, 4, 6, 8, 10, 12, 14, 16, 18},
	} {
		if got := Numbers(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	for want, list := range map[string][]int32{"rank 3 (1 of 9 is missing)": {3}, "ranks 1 and 2 (2 of 9 are missing)": {1, 2}} {
		if got := Missing(Named(list, "rank", "ranks"), len(list), 9); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

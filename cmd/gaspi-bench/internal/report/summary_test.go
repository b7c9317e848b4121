package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPercentile(t *testing.T) {
	upTo := func(n int) (values []time.Duration) {
		for i := range n {
			values = append(values, time.Duration(i+1))
		}
		return values
	}
	for _, c := range []struct {
		name   string
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{"one value", upTo(1), 50, 1},
		{"one value, high", upTo(1), 99, 1},
		{"median of two is the lower", upTo(2), 50, 1},
		{"median of three", upTo(3), 50, 2},
		{"high of few is the largest", upTo(15), 99, 15},
		{"high of a hundred", upTo(100), 99, 99},
		{"high of many", upTo(1000), 99, 990},
		{"none is the smallest", upTo(10), 0, 1},
		{"all is the largest", upTo(10), 100, 10},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestSummarizeIsPerOperation(t *testing.T) {
	blocks := []time.Duration{30 * time.Microsecond, 10 * time.Microsecond, 80 * time.Microsecond}
	want := Summary{Min: 1, P50: 3, P99: 8, Mean: 4}
	if diff := cmp.Diff(want, Summarize(blocks, 10), cmp.AllowUnexported(Summary{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestRound(t *testing.T) {
	for x, want := range map[float64]float64{
		0: 0, 12345.678912: 12345.6789, -2.00004: -2, 0.99996: 1, 0.123456: 0.1235, 0.0000481937: 0.00004819, -1e-9: -1e-9,
	} {
		if got := Round(x); got != want {
			t.Errorf("%v is rounded to %v, want %v", x, got, want)
		}
	}
}

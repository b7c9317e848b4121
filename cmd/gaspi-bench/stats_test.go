package main

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
	want := summary{min: 1, p50: 3, p99: 8, mean: 4}
	if diff := cmp.Diff(want, summarize(blocks, 10), cmp.AllowUnexported(summary{})); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// Goal: values are never 0, which means "not set", and neighbours differ, also
// where the number wraps.
func TestCounterWraps(t *testing.T) {
	c := counter{n: 1<<32 - 4}
	var got []uint32
	for range 5 {
		got = append(got, c.next())
	}
	want := []uint32{1<<32 - 2, 1<<32 - 1, 1, 2, 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
}

func TestStampIsVerified(t *testing.T) {
	const v = 0x01020304
	for size := range 20 {
		msg := make([]byte, size)
		stamp(msg, v)
		if err := verify(msg, v); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if size == 0 {
			continue
		}
		if err := verify(msg, v+0x01010101); err == nil {
			t.Errorf("%d bytes: the next message would pass for this one", size)
		}
		for _, at := range []int{0, size - 1} {
			stamp(msg, v)
			msg[at] ^= 0x80
			if err := verify(msg, v); err == nil {
				t.Errorf("%d bytes: a wrong byte %d was not noticed", size, at)
			}
		}
	}
}

func TestBlocksFor(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		time, block time.Duration
		want        int
	}{
		{"as many as fit", 400 * ms, 2 * ms, 200},
		{"not fewer than a percentile needs", 400 * ms, 100 * ms, 15},
		{"one that takes all of the time", 100 * ms, 100 * ms, 15},
		{"longer than the time", 50 * ms, 100 * ms, 7},
		{"much longer than the time", 10 * ms, 1000 * ms, 5},
		{"very short", 400 * ms, 1, 4000},
		{"too short to see", 400 * ms, 0, 4000},
	} {
		if got := blocksFor(c.time, c.block); got != c.want {
			t.Errorf("%s: %d blocks, want %d", c.name, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for x, want := range map[float64]float64{
		0: 0, 12345.678912: 12345.6789, -2.00004: -2, 0.99996: 1, 0.123456: 0.1235, 0.0000481937: 0.00004819, -1e-9: -1e-9,
	} {
		if got := round(x); got != want {
			t.Errorf("%v is rounded to %v, want %v", x, got, want)
		}
	}
}

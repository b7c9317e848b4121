package model

import (
	"errors"
	"testing"
)

func TestSolve(t *testing.T) {
	square := func(x float64) (float64, error) { return x * x, nil }
	got, err := solve(2.25, 8, square)
	if err != nil || got < 1.5-1e-9 || got > 1.5+1e-9 {
		t.Errorf("the root of 2.25 is %v, %v; want 1.5", got, err)
	}
	if got, err := solve(-1, 8, square); err != nil || got > 1e-9 {
		t.Errorf("below the least there is %v, %v; want 0", got, err)
	}
	broken := errors.New("broken")
	if _, err := solve(1, 8, func(float64) (float64, error) { return 0, broken }); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		name   string
		rates  []float64
		Memory float64
		cache  int
	}{
		{"falls", []float64{40, 38, 35, 11, 10}, 10, 2 * 4},
		{"falls slowly", []float64{40, 30, 21, 15, 10}, 10, 2 * 4},
		{"starts slowly", []float64{10, 40, 38, 12, 10}, 10, 2 * 4},
		{"never falls", []float64{40, 40, 40, 40, 40}, 40, 2 * 16},
	} {
		memory, cache := beyond([]uint64{1, 2, 4, 8, 16}, c.rates)
		if memory != c.Memory || cache != c.cache {
			t.Errorf("%s: memory %v and cache %d, want %v and %d", c.name, memory, cache, c.Memory, c.cache)
		}
	}
}

func TestVerdict(t *testing.T) {
	off, lost := verdict([]guess{
		{bytes: 8, algorithm: "a", predicted: 2, measured: 1},
		{bytes: 8, algorithm: "b", predicted: 1, measured: 4}, // chosen, 4 times the fastest
		{bytes: 64, algorithm: "a", predicted: 3, measured: 1},
		{bytes: 64, algorithm: "b", predicted: 6, measured: 6},
		{bytes: 99, algorithm: "b", predicted: 1, measured: 1},
	})
	if off != 2 || lost != 4 {
		t.Errorf("off by %v, lost %v; want 2 and 4", off, lost)
	}
}

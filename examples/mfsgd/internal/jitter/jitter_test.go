package jitter

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, want, err string }{
		{text: "none", want: "none"},
		{text: "constant:5ms", want: "constant:5ms"},
		{text: "lognormal", want: "lognormal:20ms,1"},
		{text: "lognormal:50ms", want: "lognormal:50ms,1"},
		{text: "lognormal:50ms,0.5", want: "lognormal:50ms,0.5"},
		{text: "straggler:3,4", want: "straggler:3,4,20ms"},
		{text: "straggler:0,2.5,1s", want: "straggler:0,2.5,1s"},
		{text: "", err: `jitter "": expected ` + Forms},
		{text: "gauss", err: `jitter "gauss": expected ` + Forms},
		{text: "none:1", err: `jitter "none:1": wrong number of values; expected ` + Forms},
		{text: "constant", err: `jitter "constant": wrong number of values; expected ` + Forms},
		{text: "constant:5", err: `jitter "constant:5": "5" is no duration from 0s to 1h0m0s; write it like 20ms`},
		{text: "constant:-5ms", err: `jitter "constant:-5ms": "-5ms" is no duration from 0s to 1h0m0s; write it like 20ms`},
		{text: "lognormal:1ms,x", err: `jitter "lognormal:1ms,x": "x" is no number from 0 to a million`},
		{text: "lognormal:1ms,NaN", err: `jitter "lognormal:1ms,NaN": "NaN" is no number from 0 to a million`},
		{text: "lognormal:1ms,1,1", err: `jitter "lognormal:1ms,1,1": wrong number of values; expected ` + Forms},
		{text: "straggler:-1,2", err: `jitter "straggler:-1,2": "-1" is no rank; expected a whole number of 0 or more`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, err := Parse(tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error is %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || s.String() != tt.want {
				t.Errorf("got %v, %v; want %s", s, err, tt.want)
			}
			if again, err := Parse(s.String()); err != nil || again != s {
				t.Errorf("%v reads back as %v, %v", s, again, err)
			}
		})
	}
}

func mustParse(t *testing.T, text string) Spec {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	s := mustParse(t, "straggler:3,2")
	if err := s.Check(4); err != nil {
		t.Errorf("4 ranks: %v", err)
	}
	want := "jitter straggler:3,2,20ms slows down rank 3, but the job has ranks 0 to 2 only"
	if err := s.Check(3); err == nil || err.Error() != want {
		t.Errorf("3 ranks: error is %v, want %s", err, want)
	}
}

// TestLognormalMoments draws many sleeps and compares mean and spread of the
// logarithm with what was asked for.
func TestLognormalMoments(t *testing.T) {
	const n = 100_000
	src := mustParse(t, "lognormal:20ms,0.8").For(1, 7)
	var sum, logs, squares float64
	for range n {
		d := src.Next().Seconds()
		sum += d
		logs += math.Log(d)
		squares += math.Log(d) * math.Log(d)
	}
	if mean := sum / n; math.Abs(mean-0.020) > 0.0005 {
		t.Errorf("mean %.5f s, want 0.020", mean)
	}
	if sigma := math.Sqrt(squares/n - logs/n*logs/n); math.Abs(sigma-0.8) > 0.01 {
		t.Errorf("sigma %.4f, want 0.8", sigma)
	}
}

func TestSourcesDifferByRankAndSeed(t *testing.T) {
	s := mustParse(t, "lognormal")
	first := s.For(0, 1).Next()
	if again := s.For(0, 1).Next(); again != first {
		t.Errorf("same rank and seed: %v and %v", first, again)
	}
	if s.For(1, 1).Next() == first || s.For(0, 2).Next() == first {
		t.Error("another rank or seed gives the same sleep")
	}
}

// TestPause runs on a fake clock, where sleeps take exactly as long as they say.
func TestPause(t *testing.T) {
	tests := []struct {
		name, spec string
		rank       int
		want       time.Duration
	}{
		{"none", "none", 0, 0},
		{"constant", "constant:5ms", 3, 5 * time.Millisecond},
		{"the straggler", "straggler:2,4,10ms", 2, 40 * time.Millisecond},
		{"beside the straggler", "straggler:2,4,10ms", 1, 10 * time.Millisecond},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			if err := mustParse(t, tt.spec).For(tt.rank, 1).Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start); got != tt.want {
				t.Errorf("%s: slept %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

func TestPauseEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mustParse(t, "constant:1h").For(0, 1).Pause(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

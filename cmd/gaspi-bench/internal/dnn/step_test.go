package dnn

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A wire reduces messages in known times, in a bubble where only these pass: each by
// itself, or one after the other.
type wire struct {
	costs  []time.Duration
	shared bool      // they follow each other
	free   time.Time // when the wire is, if it is shared
	order  []int
}

type packet struct{ until time.Time }

func (p packet) Wait(ctx context.Context) error {
	select {
	case <-time.After(time.Until(p.until)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *wire) start(_ context.Context, message int) (waiter, error) {
	w.order = append(w.order, message)
	begin := time.Now()
	if w.shared && w.free.After(begin) {
		begin = w.free
	}
	w.free = begin.Add(w.costs[message])
	return packet{w.free}, nil
}

// trace is a step of 10 s forward and three layers of 4, 2 and 1 s backward, with
// messages of the first, and two of the last.
func trace() *Trace {
	return &Trace{Forward: 10 * time.Second, Messages: make([]Message, 3), Backward: []Stage{
		{Compute: 4 * time.Second, Ready: []int{0}}, {Compute: 2 * time.Second}, {Compute: time.Second, Ready: []int{1, 2}},
	}}
}

// TestStep compares the times of steps with those that one can work out.
func TestStep(t *testing.T) {
	seconds := func(all ...int) []time.Duration {
		var d []time.Duration
		for _, n := range all {
			d = append(d, time.Duration(n)*time.Second)
		}
		return d
	}
	for _, c := range []struct {
		name    string
		mode    Mode
		shared  bool
		costs   []time.Duration
		want    Times
		exposed time.Duration
		hidden  float64
	}{
		{"silent", Silent, false, seconds(5, 5, 5), Times{17 * time.Second, 0}, 0, 0},
		{"blocking", Blocking, false, seconds(5, 1, 2), Times{25 * time.Second, 8 * time.Second}, 8 * time.Second, 0},
		// The first is on its way from 14 to 16, while computing ends at 17.
		{"threaded, the first hidden", Threaded, false, seconds(2, 1, 3), Times{21 * time.Second, 6 * time.Second}, 4 * time.Second, 1. / 3},
		// From 14 to 22, 23 and 26 without a pause.
		{"threaded, late", Threaded, false, seconds(8, 1, 3), Times{26 * time.Second, 12 * time.Second}, 9 * time.Second, 1. / 4},
		// 14 to 22; 17 to 18 and to 20 beside it.
		{"nonblocking, beside each other", Nonblocking, false, seconds(8, 1, 3), Times{22 * time.Second, 8 * time.Second}, 5 * time.Second, 3. / 8},
		{"nonblocking, one wire", Nonblocking, true, seconds(8, 1, 3), Times{26 * time.Second, 12 * time.Second}, 9 * time.Second, 1. / 4},
		{"nonblocking, with a pause", Nonblocking, false, seconds(2, 2, 1), Times{19 * time.Second, 4 * time.Second}, 2 * time.Second, 1. / 2},
		{"free", Threaded, false, seconds(0, 0, 0), Times{17 * time.Second, 0}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{costs: c.costs, shared: c.shared}
				got, err := step(t.Context(), trace(), c.mode, time.Sleep, w.start) // sleep: the layers, by the clock of the bubble
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
				if exposed, hidden := Exposed(got.Step, trace().Compute(), got.Comm); exposed != c.exposed || math.Abs(hidden-c.hidden) > 1e-12 {
					t.Errorf("exposed %v, hidden %v; want %v and %v", exposed, hidden, c.exposed, c.hidden)
				}
				if c.mode != Silent {
					if d := cmp.Diff([]int{0, 1, 2}, w.order); d != "" {
						t.Error(d)
					}
				}
				if c.mode == Blocking || c.mode == Threaded {
					if d := cmp.Diff(got, trace().replay(c.mode, c.costs)); d != "" {
						t.Errorf("the simulation differs: %s", d)
					}
				}
			})
		})
	}
}

// TestStepFails ends a step whose reduction cannot start, or ends in an error, with
// that error.
func TestStepFails(t *testing.T) {
	broken := errors.New("broken")
	for _, mode := range Modes() {
		for _, c := range []struct {
			name  string
			start starter
		}{
			{"start", func(context.Context, int) (waiter, error) { return nil, broken }},
			{"wait", func(context.Context, int) (waiter, error) { return failing{broken}, nil }},
		} {
			t.Run(string(mode)+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					// sleep: the layers, by the clock of the bubble
					if _, err := step(t.Context(), trace(), mode, time.Sleep, c.start); !errors.Is(err, broken) {
						t.Errorf("got %v, want %v", err, broken)
					}
				})
			})
		}
		t.Run(string(mode)+" cancelled", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
				defer cancel()
				w := &wire{costs: []time.Duration{time.Hour, time.Hour, time.Hour}}
				// sleep: the layers, by the clock of the bubble
				if _, err := step(ctx, trace(), mode, time.Sleep, w.start); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
				}
			})
		})
	}
}

type failing struct{ err error }

func (f failing) Wait(context.Context) error { return f.err }

// TestTrace splits the work of a small network: twice as much backward as forward.
func TestTrace(t *testing.T) {
	const batch, rate = 10, 5 // so that an operation of a sample takes 2 s
	got := NewTrace(small(), batch, rate, 32*4)
	want := &Trace{
		Forward: 14 * time.Second,
		Backward: []Stage{
			{Compute: 16 * time.Second}, {Compute: 8 * time.Second, Ready: []int{0}}, {Compute: 4 * time.Second, Ready: []int{1}},
		},
		Messages: small().Messages(32 * 4),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.Compute() != 42*time.Second {
		t.Errorf("computing takes %v, want 42s", got.Compute())
	}
}

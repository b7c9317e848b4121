package emulate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// An atomic whose question is swallowed was not applied; one whose answer is, is in doubt
// until the rank is lost.
func TestAtomicsAndSilence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, network string
		limit         time.Duration
		applied       uint64
	}{
		{"question", "latency=1ms,loss-of-rank=1@0s,detect=30s", time.Millisecond, 0},
		{"answer", "latency=1s,loss-of-rank=1@1500ms,detect=1500ms", 1200 * time.Millisecond, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they sleep
			cl := newCluster(t, 2, c.network)
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			_, err := cl.link(0, 1).Atomic(ctx, transport.Addr{Segment: 1}, transport.FetchAdd, 7, 0)
			doubt, is := errors.AsType[*base.InDoubtError](err)
			if !errors.Is(err, context.DeadlineExceeded) || is != (c.applied > 0) {
				t.Fatalf("%v, want the deadline, in doubt: %v", err, c.applied > 0)
			}
			for range 2 {
				if !is {
					break
				}
				if _, err := doubt.Wait(t.Context()); !errors.Is(err, base.ErrRankDead) {
					t.Errorf("Wait: %v, want that the rank is gone", err)
				}
			}
			word, err := cl.segs[1].Word(0)
			cl.ok(err)
			if got := word.Load(); got != c.applied {
				t.Errorf("the word is %d, want %d", got, c.applied)
			}
		})
	}
}

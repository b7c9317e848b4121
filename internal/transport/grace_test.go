package transport_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// A Grace goes on for AnswerMost after the end of the context of its call, and for all waits
// together; one of a context with an end of its own only until that.
func TestGraceEnds(t *testing.T) {
	const before, after = 3 * time.Second, 300 * time.Millisecond // when ctx ends, and how much later the end comes
	for _, c := range []struct {
		name   string
		end    time.Duration // after ctx, 0 for never
		waited time.Duration
	}{
		{"without an end", 0, before + transport.AnswerMost},
		{"with one that comes first", -after, before - after},
		{"with one in its time", after, before + after},
		{"with one that comes later", 2 * transport.AnswerMost, before + transport.AnswerMost},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), before)
				defer cancel()
				if c.end != 0 {
					end, cancel := context.WithTimeout(context.Background(), before+c.end)
					defer cancel()
					ctx, cancel = transport.WithEnd(ctx, end)
					defer cancel()
				}
				var grace transport.Grace
				never := func(ctx context.Context) error {
					<-ctx.Done()
					return ctx.Err()
				}
				for range 2 { // the second wait has no time left
					if err := grace.Wait(ctx, never); !errors.Is(err, ctx.Err()) || err == nil {
						t.Errorf("%v, want the error of the context, %v", err, ctx.Err())
					}
				}
				if took := time.Since(begin); took != c.waited {
					t.Errorf("waited for %v, want %v", took, c.waited)
				}
			})
		})
	}
}

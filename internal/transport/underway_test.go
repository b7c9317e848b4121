package transport

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

func sleeping() *notify.WaitPolicy { return notify.GoroutineWait(0, -1) }

func TestWaitEndsWhenWhatBeganBeforeHasEnded(t *testing.T) {
	for _, c := range []struct {
		name  string
		order []int // in which the first three operations end
	}{
		{"in order", []int{0, 1, 2}},
		{"backwards", []int{2, 1, 0}},
		{"the middle first", []int{1, 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, w := NewQueue(8, 0), sleeping()
				ops := make([]Op, 4)
				for i := range 3 {
					q.Begin(&ops[i])
				}
				done := make(chan error, 1)
				go func() { done <- q.Wait(t.Context(), w, nil) }()
				synctest.Wait()
				q.Begin(&ops[3]) // after the wait began, so it is the next one's
				for _, i := range c.order {
					synctest.Wait()
					select {
					case err := <-done:
						t.Fatalf("the wait ended (%v) before operation %d had", err, i)
					default:
					}
					q.End(&ops[i], nil)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if q.Idle() {
					t.Error("idle with an operation under way")
				}
				q.End(&ops[3], nil)
				if !q.Idle() {
					t.Error("not idle with nothing under way")
				}
			})
		})
	}
}

func TestTheFirstFailureIsReportedOnce(t *testing.T) {
	q := NewQueue(8, 0)
	first, second := errors.New("first"), errors.New("second")
	ops := make([]Op, 2)
	q.Begin(&ops[0])
	q.Begin(&ops[1])
	q.End(&ops[1], first)
	q.End(&ops[0], second)
	if q.Idle() {
		t.Error("idle although something has failed")
	}
	if err := q.Failure(); err != first {
		t.Errorf("%v, want the first failure", err)
	}
	if err := q.Failure(); err != nil || !q.Idle() {
		t.Errorf("%v the second time, want nothing", err)
	}
	q.Fail(second)
	if err := q.Failure(); err != second {
		t.Errorf("%v, want the refusal", err)
	}
}

func TestWaitEndsEarlyAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, w := NewQueue(8, 0), sleeping()
		failed := errors.New("failed")
		ops := make([]Op, 2)
		q.Begin(&ops[0])
		q.Begin(&ops[1])
		q.End(&ops[0], failed)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Wait(ctx, w, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline", err)
		}
		stopped := errors.New("stopped")
		if err := q.Wait(t.Context(), w, func() error { return stopped }); err != stopped {
			t.Errorf("%v, want the error of stop", err)
		}
		q.End(&ops[1], nil)
		if err := q.Wait(t.Context(), w, nil); err != nil {
			t.Error(err)
		}
		if err := q.Failure(); err != failed {
			t.Errorf("%v, want the failure", err)
		}
	})
}

// Operations begin and end in many goroutines while others wait.
func TestUnderwayConcurrently(t *testing.T) {
	q, w := NewQueue(8, 0), sleeping()
	var wg sync.WaitGroup
	for range 4 {
		ops := make(chan *Op, 16)
		wg.Go(func() {
			for range 2000 {
				op := new(Op)
				q.Begin(op)
				ops <- op
			}
			close(ops)
		})
		wg.Go(func() {
			for op := range ops {
				q.End(op, nil)
			}
		})
		wg.Go(func() {
			for range 200 {
				if err := q.Wait(t.Context(), w, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if !q.Idle() {
		t.Error("not idle in the end")
	}
}

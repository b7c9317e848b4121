package gaspi_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// must and ok end the rank that calls them with an error: Local turns a panic of
// a rank into its error, with the place. They are for a rank's own goroutine.
func must[T any](v T, err error) T {
	ok(err)
	return v
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

// bubble runs n ranks in a bubble of testing/synctest: waits sleep at once, and
// the clock moves only when every goroutine sleeps. So a time limit ends a wait
// exactly when nothing else can happen, synctest.Wait returns when all others
// sleep, and a hang or a goroutine left behind fails the test at once.
func bubble(t *testing.T, n int, main func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	cfg := small
	cfg.Spin, cfg.Yield = -1, -1
	synctest.Test(t, func(t *testing.T) {
		if err := gaspi.Local(t.Context(), n, cfg, main); err != nil {
			t.Error(err)
		}
	})
}

// errDies is what ranks return that die on purpose. mortals is bubble for jobs
// in which some do.
var errDies = errors.New("dies on purpose")

func mortals(t *testing.T, n int, main func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	cfg := small
	cfg.Spin, cfg.Yield = -1, -1
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), n, cfg, main)
		for _, e := range unjoin(err) {
			if !errors.Is(e, errDies) {
				t.Error(e)
			}
		}
	})
}

func unjoin(err error) []error {
	if many, is := err.(interface{ Unwrap() []error }); is {
		return many.Unwrap()
	}
	return nil
}

// soon is ctx with a time limit, which in a bubble is reached when nothing else
// can happen.
func soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Second)
}

// quiet returns, in a bubble, when every goroutine sleeps or waits like this one.
func quiet(ctx context.Context) {
	limited, cancel := soon(ctx)
	defer cancel()
	<-limited.Done()
}

// ended is a context that has ended: what the standard calls GASPI_TEST.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// poll calls try, which does not block, until it does not end with the end of
// its context.
func poll(try func(ctx context.Context) error) error {
	for {
		err := try(ended())
		if !errors.Is(err, context.Canceled) {
			return err
		}
		runtime.Gosched()
	}
}

// await takes notification id off the array, waiting for it if need be.
func await(ctx context.Context, s *gaspi.Segment, id gaspi.NotificationID) gaspi.Value {
	must(s.WaitSome(ctx, id, 1))
	return must(s.Reset(id))
}

// tell posts notification id in rank r's segment of the same number.
func tell(p *gaspi.Proc, s *gaspi.Segment, r gaspi.Rank, id gaspi.NotificationID) {
	ok(p.MustQueue(7).Notify(s.At(r, 0), gaspi.Notification{ID: id, Value: 1}))
	ok(p.MustQueue(7).Wait(context.Background()))
}

// healthy reports whether the state vector shows nothing bad.
func healthy(p *gaspi.Proc) bool {
	for _, h := range p.State() {
		if h != gaspi.Healthy {
			return false
		}
	}
	return true
}

// names reports whether err is a *RankError about rank r.
func names(err error, r gaspi.Rank) bool {
	var dead *gaspi.RankError
	return errors.Is(err, gaspi.ErrRankDead) && errors.As(err, &dead) && dead.Rank == r
}

package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// playStuck has each of five ranks wait in another way, for ever.
func playStuck(ctx context.Context, p *gaspi.Proc, _ []string) error {
	seg, err := p.CreateSegment(ctx, 0, 64)
	if err != nil {
		return err
	}
	switch p.Rank() {
	case 0:
		go func() { _, _ = seg.WaitSome(ctx, 9, 1) }()
		dst, err := seg.Span(0, 64)
		if err == nil {
			_, _, err = p.PassiveReceive(ctx, dst)
		}
		return err
	case 1:
		return gaspi.AllReduce(ctx, p.World(), []int64{1}, make([]int64, 1), gaspi.Sum)
	case 2:
		if err := p.MustQueue(0).Notify(seg.At(2, 0), gaspi.Notification{ID: 4, Value: 1}); err != nil {
			return err
		}
		return seg.WaitAll(ctx, 3, 4)
	case 3:
		ended := p.TellWait(gaspi.LongWait{Call: "exchange", Detail: "step 2 of 9", Since: time.Now(), From: []gaspi.Rank{1, 4}, Group: p.World(), Inside: seg})
		defer ended()
		return seg.WaitUntil(ctx, 7, gaspi.Equal, 5)
	}
	g, err := p.NewGroup(3, 4)
	if err == nil {
		err = g.Commit(ctx)
	}
	return err
}

// Goal: gaspi-run says of each rank what it waits for, from whom and where, of a library that tells
// what it waits for by its own name.
func TestWaitsOfProcessesAreTold(t *testing.T) {
	t.Parallel()
	want := []*regexp.Regexp{
		regexp.MustCompile(`(?m)^0 +\S+ +waiting +Proc\.PassiveReceive +\S+ s +any of 1-4 +gaspi/waits_test\.go:\d+$`),
		regexp.MustCompile(`(?m)^0 +\S+ +waiting +Segment\.WaitSome for notification 9 of segment 0 +\S+ s +any of 1-4 +gaspi/waits_test\.go:\d+$`),
		regexp.MustCompile(`(?m)^1 +\S+ +in collective +gaspi\.AllReduce, sum of 1 int64, of world, number 1 +\S+ s +0 +gaspi/waits_test\.go:\d+$`),
		regexp.MustCompile(`(?m)^2 +\S+ +waiting +Segment\.WaitAll for 3 notifications from 3 on of segment 0 +\S+ s +any of 0, 1, 3 and 4 +gaspi/waits_test\.go:\d+$`),
		regexp.MustCompile(`(?m)^3 +\S+ +in collective +exchange, step 2 of 9 +\S+ s +1 and 4 +gaspi/waits_test\.go:\d+$`),
		regexp.MustCompile(`(?m)^4 +\S+ +waiting +Group\.Commit +\S+ s +any of 0-3 +gaspi/waits_test\.go:\d+$`),
	}
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			ctx, found := context.WithCancel(testenv.Context(t))
			defer found()
			var mu sync.Mutex
			last, ok := "", false
			cfg := launcher.Config{
				Program: "/proc/self/exe", Ranks: 5, Transport: transport, Env: []string{testenv.AsRole("stuck")},
				Stdout: io.Discard, Stderr: io.Discard, StallTimeout: time.Second,
				Notice: func(sentence string) {
					mu.Lock()
					defer mu.Unlock()
					if !ok {
						last, ok = sentence, missingOf(want, sentence) == ""
					}
					if ok {
						found()
					}
				},
			}
			_, err := launcher.Run(ctx, cfg)
			if !ok || !errors.Is(err, context.Canceled) {
				t.Errorf("%v: no line like %s in\n%s", err, missingOf(want, last), last)
			}
		})
	}
}

// missingOf returns the patterns that match no line of a text.
func missingOf(patterns []*regexp.Regexp, text string) (list string) {
	for _, p := range patterns {
		if !p.MatchString(text) {
			list += fmt.Sprintln(p)
		}
	}
	return list
}

// Goal: a wait whose time is up says what it waited for and from whom.
func TestTimeLimitOfAWaitNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		ranks int
		wait  func(ctx context.Context, s *gaspi.Segment) error
		want  string
	}{
		{1, func(ctx context.Context, s *gaspi.Segment) error { _, err := s.WaitSome(ctx, 2, 1); return err },
			"gaspi: notify_waitsome segment 0: waiting for notification 2: context canceled"},
		{3, func(ctx context.Context, s *gaspi.Segment) error { _, err := s.WaitSome(ctx, 2, 3); return err },
			"gaspi: notify_waitsome segment 0: waiting for one of notifications 2-4 from ranks 1, 2: context canceled"},
		{2, func(ctx context.Context, s *gaspi.Segment) error { return s.WaitAll(ctx, 4, 4) },
			"gaspi: notify_waitall segment 0: waiting for 3 notifications from 4 on from rank 1: context canceled"},
		{2, func(ctx context.Context, s *gaspi.Segment) error { return s.WaitAll(ctx, 6, 4) },
			"gaspi: notify_waitall segment 0: waiting for all notifications 6-9 from rank 1: context canceled"},
		{10, func(ctx context.Context, s *gaspi.Segment) error { return s.WaitUntil(ctx, 5, gaspi.Greater, 1) },
			"gaspi: notify_waituntil segment 0: waiting for notification 5 from one of 9 ranks: context canceled"},
	} {
		ranktest.Local(t, c.ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			seg, err := p.CreateSegment(ctx, 0, 8)
			if err != nil || p.Rank() != 0 {
				return errors.Join(err, p.Barrier(ctx, p.World()))
			}
			if err := p.MustQueue(0).Notify(seg.At(0, 0), gaspi.Notification{ID: 5, Value: 1}); err != nil {
				return err
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if err := c.wait(ended, seg); err == nil || err.Error() != c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			return p.Barrier(ctx, p.World())
		})
	}
}

// Goal: what a barrier waits for is told as it is, also when the others come one by one.
func TestBarrierTellsWhoIsStillMissing(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() > 0 {
			for range 1 + 2*(p.Rank()-1) {
				quiet(ctx)
			}
			return p.Barrier(ctx, p.World())
		}
		ended := make(chan error)
		go func() { ended <- p.Barrier(ctx, p.World()) }()
		synctest.Wait()
		from := p.World().ExplainBarrier()
		for _, want := range [][]gaspi.Rank{{1, 2}, {2}} {
			got := from()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				return fmt.Errorf("the barrier waits for %v, want %v", got, want)
			}
			quiet(ctx)
			quiet(ctx)
		}
		return <-ended
	})
}

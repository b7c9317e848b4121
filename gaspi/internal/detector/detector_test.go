package detector

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
)

// A fakeWire still hears rank 1 until a time, and keeps the ranks that were lost.
type fakeWire struct {
	hears time.Time
	lost  []base.Rank
}

func (w *fakeWire) Hears(r base.Rank) bool   { return r == 1 && time.Now().Before(w.hears) }
func (w *fakeWire) Lose(err *base.RankError) { w.lost = append(w.lost, err.Rank) }

// A history is a job of three ranks as rank 0 sees it.
type history struct {
	*Detector
	job   *boot.Local
	wire  *fakeWire
	begun time.Time
}

func gone(r base.Rank, reason string) *base.RankError {
	return &base.RankError{Rank: r, Reason: reason}
}

// state is what rank 0 knows of the others.
func (h *history) state() string {
	var words []string
	for _, r := range h.Others {
		e := h.At(r)
		word := e.State.String()
		if e.Corrupt {
			word += " corrupt"
		}
		words = append(words, word)
	}
	return fmt.Sprintf("%v: %s", time.Since(h.begun), strings.Join(words, ", "))
}

// TestHistories has things happen to rank 1, and compares what is known of ranks 1 and 2 each time
// that waits are made to look again, and in the end, a minute later. 15 s is when nobody tells of
// an end any more.
func TestHistories(t *testing.T) {
	after := func(d time.Duration, f func(h *history)) func(*history) {
		return func(h *history) {
			go func() {
				time.Sleep(d) // sleep: in a bubble
				f(h)
			}()
		}
	}
	dies := func(h *history) { h.job.Leave(1, boot.Failure{Reason: "killed"}) }
	leaves := func(h *history) { h.job.Leave(1, boot.Failure{Left: true, Reason: "ended"}) }
	breaks := func(h *history) { h.LinkLost(gone(1, "reset")) }
	for _, c := range []struct {
		name  string
		early func(h *history) // before Start
		do    []func(h *history)
		want  []string
	}{
		{"nothing", nil, nil, []string{"1m0s: alive, alive"}},
		{"dies", nil, []func(*history){dies}, []string{"0s: dead corrupt, alive", "1m0s: dead corrupt, alive"}},
		{"leaves", nil, []func(*history){leaves}, []string{"0s: left, alive", "1m0s: left, alive"}},
		{"leaves, and is heard for 3 s", nil, []func(*history){
			func(h *history) { h.wire.hears = h.begun.Add(3 * time.Second) }, leaves,
		}, []string{"3s: left, alive", "1m0s: left, alive"}},
		{"leaves, and is heard for ever", nil, []func(*history){
			func(h *history) { h.wire.hears = h.begun.Add(time.Hour) }, leaves,
		}, []string{"10s: left, alive", "1m0s: left, alive"}},
		{"its connection breaks", nil, []func(*history){breaks}, []string{
			"1s: lost, alive", "1s: lost corrupt, alive", "15s: parted corrupt, alive", "1m0s: parted corrupt, alive",
		}},
		{"its connection breaks before Start", breaks, nil, []string{
			"1s: lost, alive", "1s: lost corrupt, alive", "15s: parted corrupt, alive", "1m0s: parted corrupt, alive",
		}},
		{"its connection breaks, and its end is told in time", nil, []func(*history){breaks, after(900*time.Millisecond, dies)}, []string{
			"900ms: dead corrupt, alive", "1m0s: dead corrupt, alive",
		}},
		{"its connection breaks, and its end is told late", nil, []func(*history){breaks, after(2*time.Second, leaves)}, []string{
			"1s: lost, alive", "1s: lost corrupt, alive", "2s: left corrupt, alive", "1m0s: left corrupt, alive",
		}},
		{"an operation finds it gone", nil, []func(*history){
			func(h *history) { _ = h.Found(1, fmt.Errorf("write: %w", gone(1, "reset"))) },
		}, []string{"0s: suspect corrupt, alive", "1m0s: suspect corrupt, alive"}},
		{"an operation that may fail finds it gone", nil, []func(*history){func(h *history) { h.Doubt(gone(1, "reset")) }}, []string{
			"1s: lost, alive", "1s: lost corrupt, alive", "15s: parted corrupt, alive", "1m0s: parted corrupt, alive",
		}},
		{"errors that say nothing", nil, []func(*history){
			func(h *history) {
				_ = h.Found(1, errors.New("no such segment"))
				_ = h.Found(7, gone(7, "there is none"))
				h.NoteEnd(gone(7, "there is none"))
				h.NoteEnd(gone(0, "this one"))
				h.Doubt(errors.New("no such segment"))
			},
		}, []string{"1m0s: alive, alive"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &history{job: boot.NewLocal(3), wire: &fakeWire{}, begun: time.Now()}
				session := h.job.Session(0)
				h.Detector = New(session, 15*time.Second, slog.New(slog.DiscardHandler))
				if c.early != nil {
					c.early(h)
				}
				var mu sync.Mutex
				var got []string // guarded by mu
				h.Start(h.wire, func() {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, h.state())
				})
				watched := make(chan error)
				go func() { watched <- h.Watch() }()
				for _, do := range c.do {
					do(h)
				}
				time.Sleep(time.Minute) // sleep: in a bubble
				synctest.Wait()
				mu.Lock()
				if d := cmp.Diff(c.want, append(got, h.state())); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				mu.Unlock()
				if told := h.At(1).HasEnded(); told != slices.Contains(h.wire.lost, 1) || told != h.At(1).Quiet {
					t.Errorf("the end is told: %t; the transport has lost %v; quiet: %t", told, h.wire.lost, h.At(1).Quiet)
				}
				h.Stop()
				_ = session.Close()
				if err := <-watched; err != nil {
					t.Errorf("the session was closed: %v", err)
				}
			})
		})
	}
}

// The loss of the launcher names a rank that was lost before, but not rank 0, which may stand for
// the launcher.
func TestWatchNamesTheRankThatWasLostBefore(t *testing.T) {
	for lost, want := range map[base.Rank]string{0: "the launcher is gone", 2: "the launcher is gone; rank 2 was lost before: killed"} {
		synctest.Test(t, func(t *testing.T) {
			job := boot.NewLocal(3)
			d := New(job.Session(1), 0, slog.New(slog.DiscardHandler))
			d.Start(&fakeWire{}, func() {})
			job.Leave(lost, boot.Failure{Reason: "killed"})
			job.Orphan(1)
			if err := d.Watch(); err == nil || err.Error() != want || !errors.Is(err, boot.ErrLost) {
				t.Errorf("%v, want %s", err, want)
			}
			d.Stop()
			_ = job.Session(1).Close()
		})
	}
}

// Goal: an operation waits for the news of an end as long after the connection broke, not after
// the operation.
func TestNewsUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(boot.NewLocal(2).Session(0), 0, slog.New(slog.DiscardHandler))
		d.Start(&fakeWire{}, func() {})
		begun := time.Now()
		if got := d.NewsUntil(1); !got.Equal(begun.Add(newsPatience)) {
			t.Errorf("before: until %v later", got.Sub(begun))
		}
		d.LinkLost(gone(1, "reset"))
		time.Sleep(100 * time.Millisecond) // sleep: in a bubble
		if got := d.NewsUntil(1); !got.Equal(begun.Add(newsPatience)) {
			t.Errorf("afterwards: until %v later", got.Sub(begun))
		}
		d.Stop()
	})
}

// A rank that died becomes corrupt again when an operation of several ranks needs it.
func TestLost(t *testing.T) {
	d := New(boot.NewLocal(4).Session(0), 0, slog.New(slog.DiscardHandler))
	wakes := 0
	d.Start(&fakeWire{}, func() { wakes++ })
	if err := d.Lost(d.Others); err != nil {
		t.Errorf("all are there: %v", err)
	}
	d.NoteEnd(&base.RankError{Rank: 3, Reason: "ended", Left: true})
	d.NoteEnd(gone(2, "killed"))
	d.Pardoned(2)
	if err := d.Lost([]base.Rank{1, 3}); err != nil || d.At(2).Corrupt {
		t.Errorf("of those that are there or left: %v, rank 2 is corrupt: %t", err, d.At(2).Corrupt)
	}
	err := d.Lost(d.Others)
	if why, ok := errors.AsType[*base.RankError](err); !ok || why.Rank != 2 || !d.At(2).Corrupt || wakes != 3 {
		t.Errorf("%v; rank 2 is corrupt: %t, after %d wakes; want an error that names it, and 3", err, d.At(2).Corrupt, wakes)
	}
}

package supervise

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// A stopWatch notices ranks that are stopped while the job is not, and kills
// those that stay so for too long: to its peers a stopped rank is as good as
// dead, except that nothing tells them. It also reaps orphans, because the same
// signal tells of both.
type stopWatch struct {
	all       *Ranks
	children  chan os.Signal // a child was stopped, goes on, or has ended
	suspended atomic.Bool    // the job is stopped on purpose
	over      chan struct{}
	watching  sync.WaitGroup

	since map[*rank]time.Time // belongs to the goroutine of loop
}

func newStopWatch(a *Ranks) *stopWatch {
	return &stopWatch{all: a, children: make(chan os.Signal, 1), over: make(chan struct{}), since: map[*rank]time.Time{}}
}

// begin starts to watch, when the ranks run.
func (w *stopWatch) begin() {
	signal.Notify(w.children, syscall.SIGCHLD)
	w.watching.Go(w.loop)
}

func (w *stopWatch) loop() {
	for {
		var due <-chan time.Time
		if next := w.look(); next > 0 {
			due = time.After(next)
		}
		select {
		case <-w.children:
		case <-due:
		case <-w.over:
			return
		}
	}
}

// look finds ranks that are stopped and kills those whose time is up. It returns
// when to look again at the latest, or 0.
func (w *stopWatch) look() (next time.Duration) {
	if w.all.task.Adopt {
		w.all.task.Children.orphans()
	}
	limit := w.all.task.Stopped
	for _, r := range w.all.ranks {
		sig := syscall.Signal(0)
		if r.running() && !w.suspended.Load() {
			sig = process.StoppedBy(r.pid())
		}
		if sig == 0 {
			delete(w.since, r)
			continue
		}
		since, known := w.since[r]
		if !known {
			since = time.Now()
			w.since[r] = since
			w.all.task.Report(RankStopped{Rank: r.number, PID: r.pid(), Sig: sig, Limit: limit})
		}
		if limit <= 0 {
			continue
		}
		left := limit - time.Since(since)
		if left <= 0 {
			r.kill(fmt.Sprintf("stopped by signal %d for %s", int(sig), phrase.Limit(limit)))
			left = limit // it is on its way out
		}
		if next == 0 || left < next {
			next = left
		}
	}
	return next
}

// suspend says whether the job is stopped on purpose.
func (w *stopWatch) suspend(on bool) { w.suspended.Store(on) }

func (w *stopWatch) close() {
	signal.Stop(w.children)
	close(w.over)
	w.watching.Wait()
}

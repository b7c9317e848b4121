package supervise

import (
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// An endWatch reports the ends of Ranks, from one goroutine and in the order
// in which they happened: that of a rank which exits because another one has died comes after
// that one's, however late this process sees them.
type endWatch struct {
	all   *Ranks
	exits *process.ExitWatch // nil until begun

	left    sync.WaitGroup // ranks that are watched and whose end was not reported
	looking sync.WaitGroup // the goroutine of loop

	mu    sync.Mutex
	ranks map[int]*rank // guarded by mu; by process; those counted in left
}

func newEndWatch(a *Ranks) *endWatch { return &endWatch{all: a, ranks: map[int]*rank{}} }

// begin starts to watch, before there are ranks.
func (w *endWatch) begin() (err error) {
	if w.exits, err = process.WatchExits(); err == nil {
		w.looking.Go(w.loop)
	}
	return err
}

// watch reports the end of a rank that was started, once.
func (w *endWatch) watch(r *rank, pid int) {
	w.left.Add(1)
	w.mu.Lock()
	w.ranks[pid] = r
	w.mu.Unlock()
	if err := w.exits.Add(pid); err != nil {
		w.report(process.Ended{PID: pid, Err: err})
	}
}

func (w *endWatch) loop() {
	for {
		ended, err := w.exits.Wait()
		if err != nil {
			w.fail(err)
			return
		}
		for _, e := range ended {
			w.report(e)
		}
	}
}

// report reports the end of the rank behind a process, unless that was done before.
func (w *endWatch) report(e process.Ended) {
	after := time.Since(w.all.begun)
	w.mu.Lock()
	r := w.ranks[e.PID]
	delete(w.ranks, e.PID)
	w.mu.Unlock()
	if r == nil {
		return
	}
	ended := RankEnded{Rank: r.number, PID: e.PID, Exit: e.Exit, Why: r.end(), After: after}
	if e.Err != nil {
		ended.Problem = w.all.hint(e.Err).Error()
	}
	w.all.task.Report(ended)
	w.left.Done()
}

// fail reports all ranks whose end will not be seen: none after close.
func (w *endWatch) fail(err error) {
	w.exits.Close() // so that no further rank can be watched
	w.mu.Lock()
	var unseen []int
	for pid := range w.ranks {
		unseen = append(unseen, pid)
	}
	w.mu.Unlock()
	for _, pid := range unseen {
		w.report(process.Ended{PID: pid, Err: err})
	}
}

// await returns when the ends of all ranks have been reported.
func (w *endWatch) await() { w.left.Wait() }

// close ends the watch when all ranks have ended.
func (w *endWatch) close() {
	w.await()
	if w.exits != nil {
		w.exits.Close()
	}
	w.looking.Wait()
}

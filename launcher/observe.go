package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stall"
)

// watchEvery is the time between two calls of Config.Watch.
const watchEvery = time.Second

// view returns what all ranks do, with what they have done with each peer and in collective operations
// only if tables is set. It blocks like views, and has no ranks once the job is over.
func (w *watch) view(tables bool) JobView {
	job := JobView{Job: w.job.id, At: time.Now(), Ran: time.Since(w.job.begun)}
	select {
	case <-w.job.over:
		return job
	default:
	}
	all := make([]status.PeerTable, w.job.cfg.Ranks)
	if tables {
		all = w.tables()
	}
	views, rows := w.look()
	if len(views) == 0 {
		return job
	}
	job.Longest = stall.Longest(views)
	job.Cause, job.Details = stall.Report(views)
	for r, v := range views {
		job.Ranks = append(job.Ranks, activityOf(v, rows[r], all[r]))
	}
	return job
}

func activityOf(v stall.View, row status.RankRow, table status.PeerTable) RankActivity {
	a := RankActivity{
		Rank: v.Rank, Host: v.Host, State: v.State.String(), Why: v.Why, Since: v.For, Stuck: v.State == stall.Silent || v.State == stall.Gone,
		Clock: row.Counts.Clock, Beat: row.Beat, Stats: statsOf(v.Rank, v.Host, row, table),
	}
	if len(v.Waits) > 0 {
		w := &v.Waits[0]
		a.Call, a.Place, a.From, a.Since = w.Text(), w.Place, w.Whom(), w.For
	}
	return a
}

// tellView is view for other processes.
func (w *watch) tellView() string {
	text, err := json.Marshal(w.view(false))
	if err != nil {
		return ""
	}
	return string(text)
}

// watchLoop shows the user what the ranks do, between lines of their output. A call for which the
// output has no room yet is not followed by others.
func (w *watch) watchLoop(show func(JobView)) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	room := make(chan struct{}, 1)
	for {
		select {
		case <-ticks.C:
		case <-w.job.over:
			return
		}
		select {
		case room <- struct{}{}:
			v := w.view(false)
			w.job.output.Interject(func() {
				show(v)
				<-room
			})
		default:
		}
	}
}

// An Observer sees what the ranks of a running job do. Config.Observe is called with one. It is safe for
// concurrent use. Each call looks anew, and blocks for up to 2 s where a host does not answer; after the
// end of the job it returns what was seen last, or nothing.
type Observer struct{ watch *watch }

// A RankActivity is what a rank does at some time.
type RankActivity struct {
	Rank  Rank
	Host  string
	State string // "not joined", "computing", "waiting", "in collective", "silent", "left" or "gone"
	Why   string // of one that is gone: how it has ended

	// Of a rank that waits: the call that waits for the longest, its place in the program, and the ranks
	// that can end the wait, such as "ranks 1-3". They are empty for others.
	Call, Place, From string
	Since             time.Duration // how long it has been in the state, as far as is known

	Clock uint64 // calls of its stale-synchronous reduction that have begun, of several of the one with most; 0 without one
	Stuck bool   // nothing comes from the rank any more

	// Stats only grow. They are those of Beat, a time by the clock of the launcher's host.
	Beat  time.Time
	Stats RankStats
}

// A JobView is what a job does at some time.
type JobView struct {
	Job   string
	At    time.Time      // by the clock of the launcher's host
	Ran   time.Duration  // since the job began
	Ranks []RankActivity // index is the rank
	// Longest is how long the longest wait has lasted, 0 without any.
	Longest time.Duration
	// Cause names the rank that holds up others, and Details is a table of all ranks and the chains of
	// waits, as gaspi-run ps prints them.
	Cause, Details string
}

// Job is the name of the job.
func (o *Observer) Job() string { return o.watch.job.id }

// Ranks is the number of ranks of the job.
func (o *Observer) Ranks() int { return o.watch.job.cfg.Ranks }

// Look returns what all ranks do now. There are no ranks once the job is over.
func (o *Observer) Look() JobView { return o.watch.view(true) }

// Ask asks the process of a rank for what its program knows of itself, which Go keeps for every program:
// "vars", "cmdline", or the name of a profile as package net/http/pprof has it, such as "heap",
// "goroutine?debug=2" or "profile?seconds=5". It blocks until the rank has answered, is gone, or ctx ends:
// a rank that is stopped does not answer. The program of the rank must use package gaspi.
func (o *Observer) Ask(ctx context.Context, r Rank, what string) ([]byte, error) {
	answer, err := o.watch.job.server.Ask(ctx, r, what)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return answer, nil
}

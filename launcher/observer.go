package launcher

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/stall"
)

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

	Stats RankStats
}

// A JobView is what a job does at some time.
type JobView struct {
	At    time.Time
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

// Look returns what all ranks do now. It returns the zero JobView once the job is over.
func (o *Observer) Look() JobView {
	w := o.watch
	select {
	case <-w.job.over:
		return JobView{}
	default:
	}
	now, tables := time.Now(), w.tables()
	views, rows := w.look()
	if views == nil {
		return JobView{}
	}
	job := JobView{At: now, Longest: stall.Longest(views)}
	job.Cause, job.Details = stall.Report(views)
	for r, v := range views {
		view := viewOf(v, statsOf(Rank(r), v.Host, rows[r], tables[r]))
		view.Clock = rows[r].Counts.Clock
		job.Ranks = append(job.Ranks, view)
	}
	return job
}

func viewOf(v stall.View, stats RankStats) RankActivity {
	view := RankActivity{Rank: v.Rank, Host: v.Host, State: v.State.String(), Why: v.Why, Since: v.For, Stats: stats}
	if len(v.Waits) > 0 {
		w := &v.Waits[0]
		view.Call, view.Place, view.Since = w.Text(), w.Place, w.For
		view.From = w.Whom()
	}
	return view
}

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

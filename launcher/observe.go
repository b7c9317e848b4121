package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/stall"
)

// A Snapshot says what the ranks of a job did at a moment.
type Snapshot struct {
	Job   string        `json:"job"`
	At    time.Time     `json:"at"`     // when, by the clock of the launcher's host
	Ran   time.Duration `json:"ran_ns"` // since the job began
	Cause string        `json:"cause"`  // a sentence that names the cause of waits, as of Look
	Ranks []RankView    `json:"ranks"`  // the index is the rank
}

// A RankView says what a rank did at a moment.
type RankView struct {
	Rank  Rank          `json:"rank"`
	Host  string        `json:"host"`
	State string        `json:"state"`           // such as computing or waiting
	Call  string        `json:"call,omitempty"`  // that has waited for the longest; of a rank that is gone, why
	Place string        `json:"place,omitempty"` // file and line of its caller
	For   time.Duration `json:"for_ns"`          // how long it has waited or been in the state
	// Clock is how many calls the rank has begun of its stale-synchronous reduction, of several of the one that has
	// made most; 0 without one.
	Clock uint64 `json:"clock,omitempty"`
	// Stuck says that nothing comes from the rank any more.
	Stuck bool `json:"stuck,omitempty"`

	// The rest only grows. It is of Beat, a time by the clock of the launcher's host.
	Beat   time.Time     `json:"beat"`
	Bytes  uint64        `json:"bytes"` // written and read
	Waited time.Duration `json:"waited_ns"`
}

// watchEvery is the time between two calls of Config.Watch.
const watchEvery = time.Second

// snapshot is what all ranks do. It blocks like views.
func (w *watch) snapshot() Snapshot {
	views, rows := w.look()
	s := Snapshot{Job: w.job.id, At: time.Now(), Ran: time.Since(w.job.begun), Ranks: make([]RankView, len(views))}
	if len(views) > 0 {
		s.Cause, _ = stall.Report(views)
	}
	for i, v := range views {
		c := rows[i].Counts
		r := RankView{
			Rank: v.Rank, Host: v.Host, State: v.State.String(), Call: v.Why, For: v.For, Stuck: v.State == stall.Silent || v.State == stall.Gone,
			Clock: c.Clock,
			Beat:  rows[i].Beat, Bytes: c.BytesWritten + c.BytesRead, Waited: c.Waited,
		}
		if len(v.Waits) > 0 {
			r.Call, r.Place, r.For = v.Waits[0].Text(), v.Waits[0].Place, v.Waits[0].For
		}
		s.Ranks[i] = r
	}
	return s
}

// tellSnapshot is snapshot for other processes.
func (w *watch) tellSnapshot() string {
	text, err := json.Marshal(w.snapshot())
	if err != nil {
		return ""
	}
	return string(text)
}

// watchLoop shows the user what the ranks do, between lines of their output. A call for which the
// output has no room yet is not followed by others.
func (w *watch) watchLoop(show func(Snapshot)) {
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
			s := w.snapshot()
			w.job.output.Interject(func() {
				show(s)
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

package launcher

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/near"
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

// topName is where the launcher of a job tells its user's processes a Snapshot.
func topName(user int, job string) string { return fmt.Sprintf("@gaspi-top-%d-%s", user, job) }

// Observe returns what the ranks of a job do, which a launcher of this user on this host runs. job is the name
// of the job, or its beginning; empty is enough where there is one job.
func Observe(ctx context.Context, job string) (Snapshot, error) {
	name, err := find(job)
	if err != nil {
		return Snapshot{}, err
	}
	text, err := near.Ask(ctx, topName(os.Geteuid(), name))
	if err != nil {
		return Snapshot{}, fmt.Errorf("job %s: %w", name, err)
	}
	var s Snapshot
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Snapshot{}, fmt.Errorf("job %s tells what this version does not understand: %w", name, err)
	}
	return s, nil
}

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

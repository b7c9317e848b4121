package launcher

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/near"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stall"
)

// A watch looks at what the ranks of a job do: when somebody asks, and again and again to find waits
// that last too long.
type watch struct {
	job     *job
	asks    chan chan []string // for how ranks have ended, to the goroutine of the job's loop
	working sync.WaitGroup
	stop    func() // ends the service of asking processes
}

func newWatch(j *job) *watch {
	return &watch{job: j, asks: make(chan chan []string), stop: func() {}}
}

// begin starts to watch, when the sites are there.
func (w *watch) begin() {
	if socket, err := near.Listen(socketName(os.Geteuid(), w.job.id)); err == nil {
		w.stop = func() { socket.Close() }
		w.working.Go(func() { near.Serve(socket, func() string { return w.report() + "\n" + w.job.answerStacks() }) })
	} else {
		w.job.cfg.Log(fmt.Sprintf("gaspi-run ps will not find this job: %v", err))
	}
	if socket, err := near.Listen(topName(os.Geteuid(), w.job.id)); err == nil {
		stop := w.stop
		w.stop = func() { stop(); socket.Close() }
		w.working.Go(func() { near.Serve(socket, w.tellView) })
	}
	if show := w.job.cfg.Watch; show != nil {
		w.working.Go(func() { w.watchLoop(show) })
	}
	if observe := w.job.cfg.Observe; observe != nil {
		observe(&Observer{w})
	}
	if limit := w.job.cfg.StallTimeout; limit > 0 {
		w.working.Go(func() { w.loop(limit) })
	}
}

// close ends the watch once the job is over.
func (w *watch) close() {
	w.stop()
	w.working.Wait()
}

// The least and the longest time between two looks for waits that last.
const (
	leastLook = 250 * time.Millisecond
	mostLook  = 5 * time.Second
)

// loop reports a wait that has lasted for the limit, and again whenever its time has doubled.
func (w *watch) loop(limit time.Duration) {
	ticks := time.NewTicker(min(max(limit/8, leastLook), mostLook))
	defer ticks.Stop()
	next := limit
	for {
		select {
		case <-ticks.C:
		case <-w.job.over:
			return
		}
		views := w.views()
		switch longest := stall.Longest(views); {
		case longest < limit:
			next = limit
		case longest >= next:
			next = 2 * longest
			cause, details := stall.Report(views)
			w.job.report(policy.Stalled{After: longest, Cause: cause, Details: details})
		}
	}
}

// report returns what all ranks do, in some lines of which the first names the cause of waits.
func (w *watch) report() string {
	cause, details := stall.Report(w.views())
	return cause + "\n" + details
}

// tell reports to the job what all ranks do.
func (w *watch) tell() {
	w.working.Go(func() { w.job.report(policy.Notice{Text: w.report()}) })
}

// views returns what all ranks do. It blocks for as long as an agent may take to answer.
func (w *watch) views() []stall.View {
	views, _ := w.look()
	return views
}

// look is views, with the rows that these are made of.
func (w *watch) look() ([]stall.View, []status.RankRow) {
	now, rows := time.Now(), w.rows()
	ends := make(chan []string, 1)
	select {
	case w.asks <- ends:
	case <-w.job.over:
		return nil, nil
	}
	waiting, absent := w.job.beginning()
	var views []stall.View
	for r, end := range <-ends {
		v := stall.Of(Rank(r), w.job.hostOf(Rank(r)), rows[r], now)
		if end != "" {
			v.State, v.Why, v.Waits = stall.Gone, end, nil
		}
		views = append(views, v)
	}
	stall.Meet(views, waiting, absent, now)
	return views, rows
}

// countWaits has waits in gaspi.Init count from now on: all ranks have been started, or go on after the job was
// suspended. One that loads for long after that is late by the time since, whatever came before.
func (j *job) countWaits() {
	now := time.Now()
	j.begins.Store(&now)
}

// beginning says since when each rank has waited in gaspi.Init for the others, as far as that counts, and which ranks
// have not come there; see stall.Meet.
func (j *job) beginning() (since []time.Time, absent []Rank) {
	since, absent = j.server.Beginning()
	return counted(since, j.begins.Load(), time.Now()), absent
}

// counted returns since when ranks wait, as far as that counts: from the time from, or not at all before that is known.
func counted(since []time.Time, from *time.Time, now time.Time) []time.Time {
	if from == nil {
		from = &now
	}
	for r, t := range since {
		if !t.IsZero() && t.Before(*from) {
			since[r] = *from
		}
	}
	return since
}

// rows returns what each rank tells of itself, in times of this host.
func (w *watch) rows() []status.RankRow {
	rows := make([]status.RankRow, w.job.cfg.Ranks)
	w.job.atSites(func(i int, s site) { copy(rows[w.job.places[i].First:], s.Rows()) })
	return rows
}

// hostOf names the host of a rank.
func (j *job) hostOf(r Rank) string {
	for _, p := range j.places {
		if p.Holds(r) {
			if name, err := os.Hostname(); p.Here && err == nil {
				return name
			}
			return p.Name
		}
	}
	return "-"
}

// tables returns what each rank has done with its peers and in collective operations. It is empty for one
// that has told nothing.
func (w *watch) tables() []status.PeerTable {
	all := make([]status.PeerTable, w.job.cfg.Ranks)
	w.job.atSites(func(i int, s site) {
		for j, b := range s.Tables() {
			if t, err := status.ParseTable(b, w.job.cfg.Ranks); err == nil {
				all[int(w.job.places[i].First)+j] = t
			}
		}
	})
	return all
}

// stats returns what each rank has done, nil if none has told.
func (w *watch) stats() []RankStats {
	rows := w.rows()
	if !slices.ContainsFunc(rows, func(r status.RankRow) bool { return !r.Beat.IsZero() }) {
		return nil
	}
	all, tables := make([]RankStats, len(rows)), w.tables()
	for r, row := range rows {
		all[r] = statsOf(Rank(r), w.job.hostOf(Rank(r)), row, tables[r])
	}
	return all
}

// statsOf returns what a rank has done.
func statsOf(r Rank, host string, row status.RankRow, t status.PeerTable) RankStats {
	c := row.Counts
	s := RankStats{
		Rank: r, Host: host, Ran: row.Beat.Sub(row.Joined), Waited: c.Waited,
		Writes: c.Writes, BytesWritten: c.BytesWritten, Reads: c.Reads, BytesRead: c.BytesRead,
		Notifications: c.Notifications, QueueWaits: c.QueueWaits, QueueFull: c.QueueFull,
		Barriers: c.Barriers, AllReduces: c.AllReduces, Atomics: c.Atomics, Messages: c.Messages,
	}
	for _, p := range t.Peers {
		s.Peers = append(s.Peers, PeerStats(p))
	}
	for _, n := range t.Calls {
		s.Collectives = append(s.Collectives, CollectiveStats(n))
	}
	return s
}

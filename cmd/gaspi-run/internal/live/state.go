package live

import (
	"cmp"
	"slices"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A pageData is what the page shows, as JSON.
type pageData struct {
	Job     string  `json:"job"`
	At      int64   `json:"at"`        // milliseconds since 1970
	Longest float64 `json:"longest_s"` // the longest wait
	Stalled bool    `json:"stalled"`   // it has lasted for stallAfter, or a rank is silent or gone
	Cause   string  `json:"cause"`
	Details string  `json:"details"`

	Ranks       []pageRow                  `json:"ranks"`
	Pairs       pairs                      `json:"pairs"`
	Collectives []launcher.CollectiveStats `json:"collectives"` // sums over ranks, the longest time first

	Period  float64   `json:"period_s"` // between two looks
	Past    []string  `json:"past"`     // of each rank, a character for each look, the oldest first; see cellOf
	Traffic []float64 `json:"traffic"`  // of each look: bytes that all ranks moved in a second
}

// A pageRow is a row.
type pageRow struct {
	Host  string  `json:"host"`
	State string  `json:"state"`
	Call  string  `json:"call,omitempty"`
	Place string  `json:"place,omitempty"`
	From  string  `json:"from,omitempty"`
	Since float64 `json:"since_s"`
	Wait  float64 `json:"wait"` // part of the last period that it waited, 0 to 1
	Rate  float64 `json:"rate"` // bytes that it moved in a second
	Bytes uint64  `json:"bytes"`
	Clock uint64  `json:"clock,omitempty"` // of its stale-synchronous reduction
}

// pairs are the bytes between pairs of ranks, or of groups of ranks that follow each other.
type pairs struct {
	Side  int      `json:"side"`  // ranks or groups
	Per   int      `json:"per"`   // ranks of a group, of which the last may have fewer
	Bytes []uint64 `json:"bytes"` // row by row, from one to another
}

const (
	stallAfter = 5 * 1e9 // nanoseconds
	mostSide   = 64      // of pairs: beyond it cells are smaller than can be seen
	mostCalls  = 12
)

// state returns what the page shows of a job.
func (h *history) state(job string) pageData {
	h.mu.Lock()
	defer h.mu.Unlock()
	now, last := h.now, h.past[len(h.past)-1]
	s := pageData{
		Job: job, At: now.At.UnixMilli(), Longest: now.Longest.Seconds(), Cause: now.Cause, Details: now.Details,
		Stalled: now.Longest >= stallAfter, Pairs: pairsOf(now.Ranks), Collectives: collectivesOf(now.Ranks),
		Period: period.Seconds(), Past: make([]string, len(now.Ranks)),
	}
	for r, v := range now.Ranks {
		s.Stalled = s.Stalled || v.State == "silent" || v.State == "gone"
		s.Ranks = append(s.Ranks, pageRow{
			Host: v.Host, State: v.State, Call: cmp.Or(v.Call, v.Why), Place: v.Place, From: v.From, Since: v.Since.Seconds(),
			Wait: last.share[r], Rate: last.rates[r], Bytes: v.Stats.BytesWritten + v.Stats.BytesRead, Clock: v.Clock,
		})
		cells := make([]byte, 0, len(h.past))
		for i := range h.past {
			cells = append(cells, h.past[i].cells[r])
		}
		s.Past[r] = string(cells)
	}
	for i := range h.past {
		var sum float64
		for _, rate := range h.past[i].rates {
			sum += rate
		}
		s.Traffic = append(s.Traffic, sum)
	}
	return s
}

// pairsOf adds up what ranks wrote and read.
func pairsOf(ranks []launcher.RankActivity) pairs {
	per := (len(ranks) + mostSide - 1) / mostSide
	p := pairs{Per: per, Side: (len(ranks) + per - 1) / per}
	p.Bytes = make([]uint64, p.Side*p.Side)
	for _, v := range ranks {
		for _, n := range v.Stats.Peers {
			from, to := int(v.Rank)/per, int(n.Peer)/per
			p.Bytes[from*p.Side+to] += n.BytesWritten
			p.Bytes[to*p.Side+from] += n.BytesRead
		}
	}
	return p
}

// collectivesOf adds up the collective operations of ranks.
func collectivesOf(ranks []launcher.RankActivity) []launcher.CollectiveStats {
	type name struct{ operation, algorithm string }
	at := map[name]int{}
	all := []launcher.CollectiveStats{}
	for _, v := range ranks {
		for _, c := range v.Stats.Collectives {
			key := name{c.Operation, c.Algorithm}
			i, known := at[key]
			if !known {
				at[key], all = len(all), append(all, c)
				continue
			}
			all[i].Calls, all[i].Bytes, all[i].Time = all[i].Calls+c.Calls, all[i].Bytes+c.Bytes, all[i].Time+c.Time
		}
	}
	slices.SortStableFunc(all, func(a, b launcher.CollectiveStats) int { return cmp.Compare(b.Time, a.Time) })
	return all[:min(len(all), mostCalls)]
}

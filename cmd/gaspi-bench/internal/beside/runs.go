package beside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// ourCongestion is the congestion control that the runtime selects for connections
// within a host (sameHost in internal/transport/tcp). Peers are measured under it
// and under the system's.
const ourCongestion = "reno"

// A peerRun is one way to run a peer.
type peerRun struct {
	peer *peer.Peer
	job  peer.Job
	rows []report.Row // what the points of the job are about, without figures

	out []bool // points that were over the limit or failed once, and are left out from then on
}

// findPeers opens peers, and makes one run of each for every algorithm and
// congestion control that is asked for.
func (c *comparison) findPeers(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("finding a folder for compiled programs: %w; set HOME or XDG_CACHE_HOME", err)
	}
	ofMPI := c.congestions()
	for _, name := range c.Peers.Names {
		congestions := ofMPI
		p, err := peer.Open(ctx, name, filepath.Join(cache, "gaspi-bench"))
		if err != nil {
			return err
		}
		algorithms, err := c.algorithms(ctx, p)
		if err != nil {
			return err
		}
		if !peer.MPI(name) { // it chooses by itself, as this runtime does
			congestions = []string{""}
		}
		for _, congestion := range congestions {
			for _, algorithm := range algorithms {
				c.runs = append(c.runs, c.newRun(p, algorithm, congestion))
			}
		}
	}
	return nil
}

// congestions are the congestion controls to measure peers under, of which ""
// is the system's.
func (c *comparison) congestions() []string {
	if !c.tcp || peer.SystemCongestion() == ourCongestion {
		return []string{""}
	}
	if err := peer.CanIsolate(); err != nil {
		c.notes = append(c.notes, fmt.Sprintf("Peers ran under %s alone, ours under %s: %v.", peer.SystemCongestion(), ourCongestion, err))
		return []string{""}
	}
	return []string{"", ourCongestion}
}

// algorithms returns the algorithms of a peer to measure; "" stands for the peer's own choice.
func (c *comparison) algorithms(ctx context.Context, p *peer.Peer) ([]string, error) {
	forced := c.Peers.Algorithms[p.Name]
	if !c.Peers.Best && len(forced) == 0 {
		return []string{""}, nil
	}
	all, err := p.Algorithms(ctx, c.Op)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(forced) > 0 {
		return nil, fmt.Errorf("--peer-algorithm %s:%s: %s has no algorithms for %s; drop the flag", p.Name, forced[0], p.Name, c.Op)
	}
	if c.Peers.Best {
		return append([]string{""}, all...), nil
	}
	known := map[string]bool{}
	for _, name := range all {
		known[name] = true
	}
	for _, name := range forced {
		if !known[name] {
			return nil, fmt.Errorf("--peer-algorithm %s:%s: expected one of %s", p.Name, name, strings.Join(all, ", "))
		}
	}
	return forced, nil
}

// newRun makes a run of a peer and the points that it measures.
func (c *comparison) newRun(p *peer.Peer, algorithm, congestion string) *peerRun {
	r := &peerRun{peer: p, job: peer.Job{
		Ranks: c.Ranks, Bound: c.bound(), Yield: c.Ranks > c.cores, TCP: c.tcp, Congestion: congestion, Algorithm: algorithm,
		DType: "float64", Op: "sum", Most: 1, Time: c.Rules.Time, Verify: c.Rules.Verify, Limit: c.Peers.Limit,
		Provider: c.Provider,
	}}
	if g := c.Call; g != nil {
		r.job.DType, r.job.Op, r.job.Root = g.Dtype.Name, g.Op.String(), g.Root
		r.job.Most = collective.Contributed(g.Dtype.Exact, collective.Contributors(g, c.Ranks))
	}
	if congestion == "" && c.tcp && peer.MPI(p.Name) {
		congestion = peer.SystemCongestion()
	}
	for _, bytes := range c.Sizes {
		for _, op := range c.operations() {
			for _, way := range peer.Ways(p.Name, op) {
				if c.Peers.Segments > 1 {
					way = fmt.Sprintf("%s-x%d", way, c.Peers.Segments)
				}
				made := report.Row{Op: op, Impl: p.Name, Version: p.Version, Algorithm: algorithm, Congestion: congestion, Way: way, Bytes: bytes}
				point := peer.Point{Operation: op, Count: bytes, Way: way}
				if g := c.Call; g != nil {
					s := g.Shape(c.Ranks, bytes)
					made.Bytes, point.Count = s.Bytes(), uint64(s.Count())
				}
				if !slices.ContainsFunc(r.rows, made.SameAs) { // sizes are rounded to whole blocks
					r.rows, r.job.Points = append(r.rows, made), append(r.job.Points, point)
				}
			}
		}
	}
	r.out = make([]bool, len(r.rows))
	return r
}

// operations are the rows that the runtime has for a size.
func (c *comparison) operations() []string {
	switch {
	case c.Op == peer.Startup:
		return []string{peer.Init, peer.FirstBarrier, peer.Started}
	case c.Op == "latency":
		return []string{"latency", "delivery"}
	case c.Op == "bandwidth" && c.Transport != "shm":
		return []string{"bandwidth"}
	case c.Op == "bandwidth":
		return []string{"bandwidth", "put"}
	}
	return []string{c.Op}
}

// fill computes the figures of a row.
func fill(r *report.Row, timed peer.PointResult) {
	w := report.Subject{Op: r.Op, Bytes: r.Bytes, Moves: r.Bytes > 0 && r.Op != "latency" && r.Op != "delivery"}
	blocks := append([]time.Duration(nil), timed.Blocks...)
	made := report.NewRow(w, r.Impl, report.Summarize(blocks, timed.Operations), len(blocks)*timed.Operations)
	made.Used(timed.Processors)
	r.CPUSPerGB = made.CPUSPerGB
	r.Iters, r.MinUS, r.P50US, r.P99US, r.MeanUS, r.GBPerS = made.Iters, made.MinUS, made.P50US, made.P99US, made.MeanUS, made.GBPerS
}

// pointOf names the point of a row.
func pointOf(r report.Row) string {
	words := []string{r.Op}
	if r.Bytes > 0 {
		words = append(words, "of "+bytesize.Format(r.Bytes))
	}
	for _, word := range []string{r.Way, r.Algorithm} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

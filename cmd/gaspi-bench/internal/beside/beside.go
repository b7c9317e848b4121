package beside

import (
	"context"
	"errors"
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
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// ourCongestion is the congestion control that the runtime selects for connections
// within a host (sameHost in internal/transport/tcp). Peers are measured under it
// and under the system's.
const ourCongestion = "reno"

// Measure measures the runtime beside peers. An error that wraps context.Canceled
// says that nothing is shown.
func Measure(ctx context.Context, spec Sides, stdout, stderr *os.File) error {
	if err := spec.Forms.Try(); err != nil {
		return err
	}
	c := &comparison{Sides: spec, stderr: stderr}
	err := c.run(ctx, stdout)
	c.out.Done()
	return errors.Join(err, c.out.Close())
}

// A comparison is the runtime and peers, measured in turns.
type comparison struct {
	Sides
	cores  int
	out    *report.Printer
	tcp    bool
	stderr *os.File

	runs  []*peerRun
	tally report.Tally
	notes []string // what readers must know
}

// A peerRun is one way to run a peer.
type peerRun struct {
	peer *peer.Peer
	job  peer.Job
	rows []report.Row // what the points of the job are about, without figures

	out []bool // points that were over the limit or failed once, and are left out from then on
}

func (c *comparison) run(ctx context.Context, stdout *os.File) error {
	cores, err := sys.ThreadCores()
	if err != nil {
		return err
	}
	c.cores, c.tcp = len(cores), c.Transport == "tcp"
	if err := c.findPeers(ctx); err != nil {
		return err
	}
	transport := c.Transport
	if c.out, err = report.NewPrinter(c.Forms, stdout, c.stderr, c.Headline(c.cores, c.bound())); err != nil {
		return err
	}
	for round := range c.Peers.Repetitions {
		for _, side := range c.sides() {
			if err := c.measureOurs(ctx, side, round); err != nil {
				return err
			}
		}
		for _, r := range c.runs {
			if err := c.measure(ctx, r, round, transport); err != nil {
				return err
			}
		}
	}
	return c.show()
}

// bound says whether each rank has a core of its own, the same on all sides.
func (c *comparison) bound() bool {
	return c.Bind == "core" || c.Bind == "auto" && c.Ranks <= c.cores
}

// findPeers opens peers, and makes one run of each for every algorithm and
// congestion control that is asked for.
func (c *comparison) findPeers(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("finding a folder for compiled programs: %w; set HOME or XDG_CACHE_HOME", err)
	}
	congestions := c.congestions()
	for _, name := range c.Peers.Names {
		p, err := peer.Open(ctx, name, filepath.Join(cache, "gaspi-bench"))
		if err != nil {
			return err
		}
		algorithms, err := c.algorithms(ctx, p)
		if err != nil {
			return err
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

// sides are what ranks of the runtime measure, in runs of their own as peers have.
func (c *comparison) sides() []string {
	if c.Rules.Side != "" {
		return []string{c.Rules.Side}
	}
	return []string{report.ImplGaspi, report.ImplLimit}
}

// measureOurs runs the ranks of the runtime once over all sizes.
func (c *comparison) measureOurs(ctx context.Context, side string, round int) error {
	c.doing(round, side, "")
	dir, err := os.MkdirTemp("", "gaspi-bench-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer nothing.Close()
	forms := report.Forms{JSON: filepath.Join(dir, "rows.json")}
	cfg, err := c.Start(forms, append(c.Args, "--json="+forms.JSON, "--side="+side), nothing, c.stderr)
	if err != nil {
		return err
	}
	result, err := launcher.Run(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case result.ExitCode != 0:
		return fmt.Errorf("the ranks of the runtime ended with exit code %d", result.ExitCode)
	}
	rows, err := report.ReadRows(forms.JSON)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Impl == report.ImplGaspi {
			r.Version = ourVersion()
			if c.tcp {
				r.Congestion = ourCongestion
			}
		}
		c.tally.Add(round, r)
	}
	return nil
}

// measure runs a peer once over all its points.
func (c *comparison) measure(ctx context.Context, r *peerRun, round int, transport string) error {
	job := r.job
	job.Points = nil
	var rows []report.Row
	var at []int
	for i, point := range r.job.Points {
		if !r.out[i] {
			job.Points = append(job.Points, point)
			rows, at = append(rows, r.rows[i]), append(at, i)
		}
	}
	return r.peer.Run(ctx, job, func(i int) {
		c.doing(round, rows[i].Impl, pointOf(rows[i]))
	}, func(done peer.PointResult) {
		made := rows[done.Point]
		made.Transport, made.N = transport, c.Ranks
		switch {
		case done.OverLimit:
			made.Note = fmt.Sprintf("over limit (%v)", c.Peers.Limit)
		case done.Failed != "":
			made.Note = "failed (" + done.Failed + ")"
		default:
			fill(&made, done)
		}
		r.out[at[done.Point]] = made.Note != ""
		c.tally.Add(round, made)
	})
}

// doing says on a terminal what is being measured.
func (c *comparison) doing(round int, impl, what string) {
	if what == "" {
		what = c.Op
	}
	c.out.Progress(fmt.Sprintf("round %d of %d: %s, %s", round+1, c.Peers.Repetitions, impl, what))
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
	if congestion == "" && c.tcp {
		congestion = peer.SystemCongestion()
	}
	for _, bytes := range c.Sizes {
		for _, op := range c.operations() {
			for _, way := range peer.Ways(p.Name, op) {
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

// show prints everything that was measured.
func (c *comparison) show() error {
	rows := c.tally.Sorted()
	all := report.Compare(rows)
	lines := append(c.describe(), report.PeerLines(rows)...)
	for _, op := range c.operations() {
		lines = append(lines, "")
		lines = append(lines, report.ComparisonLines(op, all)...)
	}
	if err := c.out.ShowAs(append(lines, c.notes...), rows); err != nil {
		return err
	}
	return c.encode(all)
}

// describe says how figures came about.
func (c *comparison) describe() []string {
	what := c.Op
	if g := c.Call; g != nil {
		what += " of " + g.Dtype.Name
		if g.What.Reduces() {
			what += ", " + g.Op.String()
		}
	}
	return []string{fmt.Sprintf("%s; medians of %d rounds, in each of which every side ran once", what, c.Peers.Repetitions)}
}

// encode writes comparisons and means to JSON, as objects with one member.
func (c *comparison) encode(all []report.Comparison) error {
	for _, made := range all {
		if err := c.out.Encode("comparisons", map[string]report.Comparison{"comparison": made}); err != nil {
			return err
		}
	}
	for _, op := range c.operations() {
		for _, m := range report.Means(op, all) {
			if err := c.out.Encode("comparisons", map[string]report.Mean{"geomean": m}); err != nil {
				return err
			}
		}
	}
	return nil
}

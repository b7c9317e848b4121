package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// A contest is the runtime and peers, measured in turns.
type contest struct {
	o      *options
	cores  int
	out    *report.Printer
	tcp    bool
	stderr *os.File

	rivals []*rival
	tally  report.Tally
	notes  []string // what readers must know
}

// A rival is one way to run a peer.
type rival struct {
	peer *peer.Peer
	job  peer.Job
	rows []report.Row // what the points of the job are about, without figures

	out []bool // points that were over the limit or failed once, and are left out from then on
}

// runPeers measures the runtime beside peers and returns the exit code.
func runPeers(o *options, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.forms.Try(); err != nil {
		say(stderr, err)
		return exitFailed
	}
	c := &contest{o: o, stderr: stderr}
	err := c.run(ctx, stdout)
	c.out.Done()
	err = errors.Join(err, c.out.Close())
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; nothing is shown, as rounds are missing")
	}
	if err != nil {
		say(stderr, err)
		return exitFailed
	}
	return 0
}

func (c *contest) run(ctx context.Context, stdout *os.File) error {
	cores, err := sys.ThreadCores()
	if err != nil {
		return err
	}
	c.cores, c.tcp = len(cores), c.o.transport == "tcp"
	if err := c.findRivals(ctx); err != nil {
		return err
	}
	transport := c.o.peerTransport()
	if c.out, err = report.NewPrinter(c.o.forms, stdout, c.stderr, headline(c.o.ranks, transport, c.cores, c.bound())); err != nil {
		return err
	}
	for round := range c.o.peers.repetitions {
		for _, side := range c.sides() {
			if err := c.measureOurs(ctx, side, round); err != nil {
				return err
			}
		}
		for _, r := range c.rivals {
			if err := c.measure(ctx, r, round, transport); err != nil {
				return err
			}
		}
	}
	return c.show()
}

// bound says whether each rank has a core of its own, the same on all sides.
func (c *contest) bound() bool {
	return c.o.bind == "core" || c.o.bind == "auto" && c.o.ranks <= c.cores
}

// findRivals opens peers, and makes one rival of each for every algorithm and
// congestion control that is asked for.
func (c *contest) findRivals(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("finding a folder for compiled programs: %w; set HOME or XDG_CACHE_HOME", err)
	}
	congestions := c.congestions()
	for _, name := range c.o.peers.names {
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
				c.rivals = append(c.rivals, c.newRival(p, algorithm, congestion))
			}
		}
	}
	return nil
}

// congestions are the congestion controls to measure peers under, of which ""
// is the system's.
func (c *contest) congestions() []string {
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
func (c *contest) algorithms(ctx context.Context, p *peer.Peer) ([]string, error) {
	forced := c.o.peers.algorithms[p.Name]
	if !c.o.peers.best && len(forced) == 0 {
		return []string{""}, nil
	}
	all, err := p.Algorithms(ctx, c.o.op.Name)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(forced) > 0 {
		return nil, fmt.Errorf("--peer-algorithm %s:%s: %s has no algorithms for %s; drop the flag", p.Name, forced[0], p.Name, c.o.op.Name)
	}
	if c.o.peers.best {
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
func (c *contest) sides() []string {
	if c.o.measured.Side != "" {
		return []string{c.o.measured.Side}
	}
	return []string{report.ImplGaspi, report.ImplLimit}
}

// measureOurs runs the ranks of the runtime once over all sizes.
func (c *contest) measureOurs(ctx context.Context, side string, round int) error {
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
	ours := *c.o
	ours.forms = report.Forms{JSON: filepath.Join(dir, "rows.json")}
	ours.args = append(c.o.args, "--json="+ours.forms.JSON, "--side="+side)
	cfg, err := ours.job(nothing, c.stderr)
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
	rows, err := report.ReadRows(ours.forms.JSON)
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

// measure runs a rival once over all its points.
func (c *contest) measure(ctx context.Context, r *rival, round int, transport string) error {
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
		made.Transport, made.N = transport, c.o.ranks
		switch {
		case done.OverLimit:
			made.Note = fmt.Sprintf("over limit (%v)", c.o.peers.limit)
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
func (c *contest) doing(round int, impl, what string) {
	if what == "" {
		what = c.o.op.Name
	}
	c.out.Progress(fmt.Sprintf("round %d of %d: %s, %s", round+1, c.o.peers.repetitions, impl, what))
}

// newRival makes a rival and the points that it measures.
func (c *contest) newRival(p *peer.Peer, algorithm, congestion string) *rival {
	r := &rival{peer: p, job: peer.Job{
		Ranks: c.o.ranks, Bound: c.bound(), Yield: c.o.ranks > c.cores, TCP: c.tcp, Congestion: congestion, Algorithm: algorithm,
		DType: "float64", Op: "sum", Most: 1, Time: c.o.measured.Time, Verify: c.o.measured.Verify, Limit: c.o.peers.limit,
		Provider: os.Getenv(envProvider),
	}}
	if g := c.o.collective; g != nil {
		r.job.DType, r.job.Op, r.job.Root = g.Dtype.Name, g.Op.String(), g.Root
		r.job.Most = collective.Contributed(g.Dtype.Exact, collective.Contributors(g, c.o.ranks))
	}
	if congestion == "" && c.tcp {
		congestion = peer.SystemCongestion()
	}
	for _, bytes := range c.o.sizes {
		for _, op := range c.operations() {
			for _, way := range peer.Ways(p.Name, op) {
				made := report.Row{Op: op, Impl: p.Name, Version: p.Version, Algorithm: algorithm, Congestion: congestion, Way: way, Bytes: bytes}
				point := peer.Point{Operation: op, Count: bytes, Way: way}
				if g := c.o.collective; g != nil {
					s := g.Shape(c.o.ranks, bytes)
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
func (c *contest) operations() []string {
	switch {
	case c.o.op.Name == "latency":
		return []string{"latency", "delivery"}
	case c.o.op.Name == "bandwidth" && c.o.peerTransport() != "shm":
		return []string{"bandwidth"}
	case c.o.op.Name == "bandwidth":
		return []string{"bandwidth", "put"}
	}
	return []string{c.o.op.Name}
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
func (c *contest) show() error {
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
func (c *contest) describe() []string {
	what := c.o.op.Name
	if g := c.o.collective; g != nil {
		what += " of " + g.Dtype.Name
		if g.What.Reduces() {
			what += ", " + g.Op.String()
		}
	}
	return []string{fmt.Sprintf("%s; medians of %d rounds, in each of which every side ran once", what, c.o.peers.repetitions)}
}

// encode writes comparisons and means to JSON, as objects with one member.
func (c *contest) encode(all []report.Comparison) error {
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

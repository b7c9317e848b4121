package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// reportFormat changes whenever a reader of an older report would go wrong.
const reportFormat = "fft/1"

// A Report is the document that --json writes. Times are in seconds.
type Report struct {
	Format        string `json:"format"` // reportFormat
	Ranks         int    `json:"ranks"`
	Kind          string `json:"kind"`          // "c2c" or "r2c"
	Precision     int    `json:"precision"`     // bits of a float
	Decomposition string `json:"decomposition"` // "slab" or "pencil"
	AllToAll      string `json:"alltoall"`      // the algorithm that was asked for
	Bands         int    `json:"bands"`
	Repeat        int    `json:"repeat"`
	Seed          uint64 `json:"seed"`
	// Network is the network that was emulated, if any, and Punctual whether the host
	// could carry it: otherwise, times are not those of such a network.
	Network  string `json:"network,omitempty"`
	Punctual bool   `json:"network_punctual,omitempty"`
	Runs     []Run  `json:"runs"` // by grid, then by overlap
}

// A Run is the outcome for one grid and overlap. Times are per band, and medians over
// the repetitions of the slowest rank's time.
type Run struct {
	Grid           string     `json:"grid"`
	P              int        `json:"p"`
	Q              int        `json:"q"`
	Overlap        int        `json:"overlap"`
	Exchanges      []Exchange `json:"exchanges"`
	ForwardSeconds float64    `json:"forward_seconds"`
	InverseSeconds float64    `json:"inverse_seconds"`
	// ExchangeSeconds is what the exchanges of one direction take by themselves.
	ExchangeSeconds float64 `json:"exchange_alone_seconds"`
	ForwardRate     float64 `json:"forward_gflops"` // 5 N log2 N operations, half as many of real grids
	InverseRate     float64 `json:"inverse_gflops"`
	Split           []Split `json:"split"` // by rank, of the repetition with the median time
	Errors          Errors  `json:"errors"`
}

// An Exchange is one of those that a transform makes.
type Exchange struct {
	Ranks    int `json:"ranks"`          // that exchange with one another
	Smallest int `json:"smallest_bytes"` // block to one peer
	Largest  int `json:"largest_bytes"`
}

// A Split is where a rank's time went, per band, there and back.
type Split struct {
	Local    float64 `json:"local_seconds"`    // transforming lines
	Pack     float64 `json:"pack_seconds"`     // loading lines, and storing them in blocks
	Exchange float64 `json:"exchange_seconds"` // starting exchanges and letting them go on
	Waiting  float64 `json:"waiting_seconds"`  // until they ended
	Other    float64 `json:"other_seconds"`    // the rest
}

// total is all of a rank's time.
func (s Split) total() float64 { return s.Local + s.Pack + s.Exchange + s.Waiting + s.Other }

func newSplit(l lap, bands int) Split {
	n := float64(bands)
	s := Split{
		Local: l.times.Local.Seconds() / n, Pack: l.times.Pack.Seconds() / n,
		Exchange: l.times.Exchange.Seconds() / n, Waiting: l.times.Wait.Seconds() / n,
	}
	s.Other = max(0, l.wall.Seconds()/n-s.total())
	return s
}

// alltoall is the share of time that exchanges cost on average over ranks: what is
// not hidden behind arithmetic.
func (r *Run) alltoall() float64 {
	share := 0.0
	for _, s := range r.Split {
		share += (s.Exchange + s.Waiting) / s.total()
	}
	return share / float64(len(r.Split))
}

func newReport(o options, ranks int) *Report {
	r := &Report{
		Format: reportFormat, Ranks: ranks, Kind: "c2c", Precision: 64, Decomposition: "slab", AllToAll: "auto",
		Bands: o.bands, Repeat: o.repeat, Seed: o.seed,
	}
	if o.real {
		r.Kind = "r2c"
	}
	if o.single {
		r.Precision = 32
	}
	if o.pencil {
		r.Decomposition = "pencil"
	}
	if o.algorithm != "" {
		r.AllToAll = o.algorithm
	}
	return r
}

func exchanges(of []distfft.Exchange) []Exchange {
	all := []Exchange{}
	for _, x := range of {
		all = append(all, Exchange(x))
	}
	return all
}

// rate is the speed of a transform in GFLOP/s by the usual count of operations.
func rate(grid distfft.Grid, real bool, seconds float64) float64 {
	points, _ := grid.Points()
	flop := 5 * float64(points) * math.Log2(float64(points))
	if real {
		flop /= 2
	}
	return flop / seconds / 1e9
}

// network notes whether a network was emulated, and how well. It is collective.
func (r *Report) network(ctx context.Context, p *gaspi.Proc) error {
	network, emulated := p.Emulation().Network()
	if !emulated {
		return nil
	}
	late := []int64{0}
	if !p.Emulation().Punctuality().Valid() {
		late[0] = 1
	}
	if err := gaspi.AllReduce(ctx, p.World(), late, late, gaspi.Max); err != nil {
		return err
	}
	r.Network, r.Punctual = network.String(), late[0] == 0
	return nil
}

// writeNetwork says what network was emulated, if one was.
func (r *Report) writeNetwork(w io.Writer) {
	switch {
	case r.Network == "":
	case r.Punctual:
		fmt.Fprintf(w, "\nnetwork emulated with %s; the host carried it\n", r.Network)
	default:
		fmt.Fprintf(w, "\nnetwork emulated with %s; the host could not carry it, so that times are not those of such a network\n", r.Network)
	}
}

// writeRun prints a run: what it was, its speed, and where the time of each rank went.
func (r *Report) writeRun(w io.Writer, i int) {
	run := &r.Runs[i]
	if i > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s %s float%d, %s on %s as %s, overlap %d, alltoall %s\n", run.Grid, r.Kind, r.Precision,
		program.Plural(r.Bands, "band"), program.Plural(r.Ranks, "rank"), run.cut(), run.Overlap, r.AllToAll)
	for _, x := range run.Exchanges {
		fmt.Fprintf(w, "each rank sends %s to each of %s\n", x.size(), program.Plural(x.Ranks-1, "peer"))
	}
	fmt.Fprintf(w, "forward %s a band, %.2f GFLOP/s; inverse %s, %.2f GFLOP/s\n",
		short(run.ForwardSeconds), run.ForwardRate, short(run.InverseSeconds), run.InverseRate)
	fmt.Fprintln(w, "rank  a band there and back   local    pack  exchange  waiting   other")
	for rank, s := range run.Split {
		t := s.total() / 100
		fmt.Fprintf(w, "%4d  %22s  %5.1f%%  %5.1f%%    %5.1f%%   %5.1f%%  %5.1f%%\n", rank, short(s.total()),
			s.Local/t, s.Pack/t, s.Exchange/t, s.Waiting/t, s.Other/t)
	}
	if len(run.Exchanges) > 0 {
		fmt.Fprintf(w, "alltoall takes %.1f%% of the time; by itself %s a band and direction\n", 100*run.alltoall(), short(run.ExchangeSeconds))
	}
	fmt.Fprintf(w, "relative errors: forward and inverse %.1e, Parseval %.1e", run.Errors.Inverse, run.Errors.Parseval)
	if run.Errors.Serial != nil {
		fmt.Fprintf(w, ", forward beside rank 0 alone %.1e", *run.Errors.Serial)
	}
	fmt.Fprintln(w)
}

// cut is how the grid is cut.
func (r *Run) cut() string {
	if r.Q == 1 {
		return "slabs"
	}
	return fmt.Sprintf("%dx%d pencils", r.P, r.Q)
}

// size is the size of a block.
func (x Exchange) size() string {
	if x.Smallest == x.Largest {
		return byteCount(uint64(x.Largest))
	}
	return byteCount(uint64(x.Smallest)) + " to " + byteCount(uint64(x.Largest))
}

// short writes a time for people.
func short(seconds float64) string {
	if seconds < 1e-3 {
		return fmt.Sprintf("%.1f us", 1e6*seconds)
	}
	return fmt.Sprintf("%.2f ms", 1e3*seconds)
}

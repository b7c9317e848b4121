package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rounds adds a row to a tally, once for each p50.
func addRounds(t *tally, r row, p50s ...float64) {
	r.Transport, r.N = "shm", 2
	for round, us := range p50s {
		r.Iters, r.MinUS, r.P50US, r.P99US, r.MeanUS = 100, us/2, us, us*10, us*2
		t.add(round, r)
	}
}

// sampleTally is two sizes beside two peers, one of which has no figure for the
// second size.
func sampleTally() *tally {
	t := &tally{}
	r := func(bytes uint64, impl, way string) row {
		version := map[string]string{"openmpi": "4.1.4", "mpich": "4.0.2"}[impl]
		return row{Op: "allreduce", Impl: impl, Version: version, Way: way, Bytes: bytes}
	}
	addRounds(t, r(8, implGaspi, ""), 0.2, 0.4, 0.1)
	addRounds(t, r(1<<20, implGaspi, ""), 30, 30, 30)
	addRounds(t, r(8, implLimit, ""), 0.1, 0.2, 0.1)
	addRounds(t, r(8, "openmpi", "in-place"), 0.6, 0.8, 0.4)
	addRounds(t, r(8, "openmpi", "separate"), 0.5, 0.9, 0.7)
	addRounds(t, r(8, "mpich", "in-place"), 2, 3, 2)
	addRounds(t, r(1<<20, "openmpi", "in-place"), 60, 90, 60)
	slow := r(1<<20, "mpich", "in-place")
	slow.Note = "over limit (20s)"
	t.add(0, slow)
	return t
}

func TestPeerTables(t *testing.T) {
	rows := sampleTally().sorted()
	got := strings.Join(append(peerLines(rows), comparisonLines("allreduce", compare(rows))...), "\n")
	want := `op              bytes  impl             how                                   min us      p50 us      p99 us     mean us     +-95% rounds
allreduce           8  gaspi                                                  0.0500      0.2000      2.0000      0.4667    0.7589      3
allreduce           8  limit                                                  0.0500      0.1000      1.0000      0.2667    0.2868      3
allreduce           8  openmpi 4.1.4    in-place                              0.2000      0.6000      6.0000      1.2000    0.9937      3
allreduce           8  openmpi 4.1.4    separate                              0.2500      0.7000      7.0000      1.4000    0.9937      3
allreduce           8  mpich 4.0.2      in-place                              1.0000      2.0000       20.00      4.6667    2.8684      3
allreduce        1MiB  gaspi                                                   15.00       30.00      300.00       60.00    0.0000      3
allreduce        1MiB  openmpi 4.1.4    in-place                               30.00       60.00      600.00      140.00     86.05      3
allreduce        1MiB  mpich 4.0.2      in-place                          over limit (20s)
allreduce: p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)
  bytes       gaspi     openmpi       mpich    ratio       of rounds       limit of limit  better peer
      8      0.2000      0.6000      2.0000     3.00    2.00 to 4.00      0.1000     2.00  openmpi, in-place
   1MiB       30.00       60.00  over limit     2.00    2.00 to 3.00           -        -  openmpi, in-place
geometric mean of ratios: openmpi 2.45, mpich 10.00 (1 of 2 sizes), better 2.45`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tables (-want +got):\n%s", d)
	}
}

// The interval is Student's: of 2, 4 and 6 it is 4.303 standard errors of 1.1547.
func TestCombine(t *testing.T) {
	var all tally
	for i, mean := range []float64{2, 4, 6} {
		all.add(i, row{Op: "put", Impl: "openmpi", Bytes: 1000, Iters: 10, MinUS: 3 - mean/10, P50US: mean / 2, P99US: 9, MeanUS: mean, GBPerS: 1})
	}
	all.add(2, row{Op: "put", Impl: "openmpi", Bytes: 1000, MinUS: 0.001}) // the same size twice in a round
	got := all.rows[0]
	got.Rounds = nil
	want := row{Op: "put", Impl: "openmpi", Bytes: 1000, Iters: 30, MinUS: 2.4, P50US: 2, P99US: 9, MeanUS: 4, MeanCI95US: 4.9683, GBPerS: 0.5}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name string
		xs   []float64
		want float64
	}{{"one", []float64{3}, 3}, {"two", []float64{4, 2}, 3}, {"three", []float64{9, 1, 5}, 5}} {
		if got := median(c.xs); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Goal: without a figure of any peer there is no ratio, and no mean.
func TestNothingToCompareWith(t *testing.T) {
	var all tally
	addRounds(&all, row{Op: "barrier", Impl: implGaspi}, 1)
	all.add(0, row{Op: "barrier", Impl: "mpich", Note: "failed (exit status 9: x)"})
	got := strings.Join(comparisonLines("barrier", compare(all.sorted())), "\n")
	want := `barrier: p50 in microseconds, and the better peer's time by ours (above 1, ours is faster)
  bytes       gaspi       mpich    ratio       of rounds       limit of limit  better peer
      -      1.0000      failed        -               -           -        -`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("table (-want +got):\n%s", d)
	}
}

func TestOSU(t *testing.T) {
	var bandwidth tally
	addRounds(&bandwidth, row{Op: "bandwidth", Impl: implGaspi, Bytes: 1 << 20}, 50)
	var barrier tally
	addRounds(&barrier, row{Op: "barrier", Impl: implGaspi}, 0.05)
	var gather tally
	addRounds(&gather, row{Op: "allgather", Impl: implGaspi, Bytes: 64, Algorithm: "ring"}, 1)
	two := []row{{Op: "scan", Impl: implGaspi, Bytes: 8, Algorithm: "a", MeanUS: 1}, {Op: "scan", Impl: implGaspi, Bytes: 8, Algorithm: "b", MeanUS: 2}}
	for _, c := range []struct {
		name  string
		rows  []row
		apart bool
		want  string
	}{
		{"beside peers", sampleTally().sorted(), false, `# gaspi-bench allreduce, 2 ranks over shm: gaspi
# Size         Avg Latency(us)
8                       0.4667
1048576                60.0000

# gaspi-bench allreduce, 2 ranks over shm: limit
# Size         Avg Latency(us)
8                       0.2667

# gaspi-bench allreduce, 2 ranks over shm: openmpi 4.1.4, in-place
# Size         Avg Latency(us)
8                       1.2000
1048576               140.0000

# gaspi-bench allreduce, 2 ranks over shm: openmpi 4.1.4, separate
# Size         Avg Latency(us)
8                       1.4000

# gaspi-bench allreduce, 2 ranks over shm: mpich 4.0.2, in-place
# Size         Avg Latency(us)
8                       4.6667
# 1048576: over limit (20s)`},
		{"bandwidth", bandwidth.rows, false, "# gaspi-bench bandwidth, 2 ranks over shm: gaspi\n# Size        Bandwidth (MB/s)\n1048576               10485.76"},
		{"barrier", barrier.rows, false, "# gaspi-bench barrier, 2 ranks over shm: gaspi\n# Avg Latency(us)\n           0.1000"},
		{"blocks count", gather.rows, false, "# gaspi-bench allgather, 2 ranks over shm: gaspi\n# Size         Avg Latency(us)\n32                      2.0000"},
		{"one after the other", two, false, "# gaspi-bench scan, 0 ranks over : gaspi\n# Size         Avg Latency(us)\n8                       1.0000\n8                       2.0000"},
		{"apart", two, true, "# gaspi-bench scan, 0 ranks over : gaspi, a\n# Size         Avg Latency(us)\n8                       1.0000\n\n" +
			"# gaspi-bench scan, 0 ranks over : gaspi, b\n# Size         Avg Latency(us)\n8                       2.0000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, strings.Join(osuLines(c.rows, c.apart), "\n")); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
		})
	}
}

// Goal: the drawing is well-formed and names what is in it.
func TestPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.svg")
	if err := plotRows(file, "title", sampleTally().sorted(), false); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(strings.NewReader(string(data)))
	var words []string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			words = append(words, strings.TrimSpace(string(text)))
		}
	}
	said := strings.Join(words, "|")
	for _, want := range []string{"allreduce", "gaspi", "limit", "openmpi", "mpich", "time (us), p50"} {
		if !strings.Contains(said, want) {
			t.Errorf("the drawing does not say %q: %s", want, said)
		}
	}
	if err := plotRows(filepath.Join(t.TempDir(), "none", "x.svg"), "", sampleTally().rows, false); err == nil || !strings.Contains(err.Error(), "name a file that can be written") {
		t.Errorf("error %v", err)
	}
}

// Goal: rows of the runtime alone can be had in these forms too.
func TestFormsWithoutPeers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.svg")
	stdout, stderr, code := gaspiBench(t, "broadcast", "--sizes", "8,64", "--time", "1ms", "--osu", "--plot", file)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "# gaspi-bench broadcast, 2 ranks over shm: gaspi\n# Size ") || strings.Contains(stdout, "p50 us") {
		t.Errorf("exit code %d, %s%s", code, stderr, stdout)
	}
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "</svg>") {
		t.Errorf("the drawing is %q: %v", data, err)
	}
}

package report

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
func addRounds(t *Tally, r Row, p50s ...float64) {
	r.Transport, r.N = "shm", 2
	for round, us := range p50s {
		r.Iters, r.MinUS, r.P50US, r.P99US, r.MeanUS = 100, us/2, us, us*10, us*2
		t.Add(round, r)
	}
}

// sampleTally is two sizes beside two peers, one of which has no figure for the
// second size.
func sampleTally() *Tally {
	t := &Tally{}
	r := func(bytes uint64, impl, way string) Row {
		version := map[string]string{"openmpi": "4.1.4", "mpich": "4.0.2"}[impl]
		return Row{Op: "allreduce", Impl: impl, Version: version, Way: way, Bytes: bytes}
	}
	addRounds(t, r(8, ImplGaspi, ""), 0.2, 0.4, 0.1)
	large := r(1<<20, ImplGaspi, "")
	large.CPUSPerGB = 0.07
	addRounds(t, large, 30, 30, 30)
	addRounds(t, r(8, ImplLimit, ""), 0.1, 0.2, 0.1)
	addRounds(t, r(8, "openmpi", "in-place"), 0.6, 0.8, 0.4)
	addRounds(t, r(8, "openmpi", "separate"), 0.5, 0.9, 0.7)
	addRounds(t, r(8, "mpich", "in-place"), 2, 3, 2)
	addRounds(t, r(1<<20, "openmpi", "in-place"), 60, 90, 60)
	slow := r(1<<20, "mpich", "in-place")
	slow.Note = "over limit (20s)"
	t.Add(0, slow)
	return t
}

// The interval is Student's: of 2, 4 and 6 it is 4.303 standard errors of 1.1547.
func TestCombine(t *testing.T) {
	var all Tally
	allocs := []uint64{1, 3, 2}
	for i, mean := range []float64{2, 4, 6} {
		all.Add(i, Row{Op: "put", Impl: "openmpi", Bytes: 1000, Iters: 10, MinUS: 3 - mean/10, P50US: mean / 2, P99US: 9, MeanUS: mean, GBPerS: 1, CPUSPerGB: mean / 10, AllocsPerOp: &allocs[i]})
	}
	all.Add(2, Row{Op: "put", Impl: "openmpi", Bytes: 1000, MinUS: 0.001}) // the same size twice in a round
	got := all.rows[0]
	got.Rounds = nil
	want := Row{Op: "put", Impl: "openmpi", Bytes: 1000, Iters: 30, MinUS: 2.4, P50US: 2, P99US: 9, MeanUS: 4, MeanCI95US: 4.9683, GBPerS: 0.5, CPUSPerGB: 0.4, AllocsPerOp: &allocs[1]}
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
		if got := Median(c.xs); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOSU(t *testing.T) {
	var bandwidth Tally
	addRounds(&bandwidth, Row{Op: "bandwidth", Impl: ImplGaspi, Bytes: 1 << 20}, 50)
	var barrier Tally
	addRounds(&barrier, Row{Op: "barrier", Impl: ImplGaspi}, 0.05)
	var gather Tally
	addRounds(&gather, Row{Op: "allgather", Impl: ImplGaspi, Bytes: 64, Algorithm: "ring"}, 1)
	two := []Row{{Op: "scan", Impl: ImplGaspi, Bytes: 8, Algorithm: "a", MeanUS: 1}, {Op: "scan", Impl: ImplGaspi, Bytes: 8, Algorithm: "b", MeanUS: 2}}
	for _, c := range []struct {
		name  string
		rows  []Row
		apart bool
		want  string
	}{
		{"beside peers", sampleTally().Sorted(), false, `# gaspi-bench allreduce, 2 ranks over shm: gaspi
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
	if err := plotRows(file, "title", sampleTally().Sorted(), false); err != nil {
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

func TestReadRows(t *testing.T) {
	const text = `{"op":"allreduce","impl":"gaspi","bytes":8,"p50_us":2.5,"more":1}
{"op":"allreduce","impl":"limit","bytes":8,"p50_us":1}
{"op":"allreduce","impl":"gaspi","bytes":16,"p50_us":3,"invalid":true,"late_share":0.25}
`
	file := filepath.Join(t.TempDir(), "rows.json")
	for _, c := range []struct {
		name, text string
		want       []Row
		refused    bool
	}{
		{"rows", text, []Row{
			{Op: "allreduce", Impl: "gaspi", Bytes: 8, P50US: 2.5}, {Op: "allreduce", Impl: "limit", Bytes: 8, P50US: 1},
			{Op: "allreduce", Impl: "gaspi", Bytes: 16, P50US: 3, Invalid: true, LateShare: 0.25},
		}, false},
		{"half a row", `{"impl":`, nil, true},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadRows(file)
		if (err != nil) != c.refused {
			t.Errorf("%s: error %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

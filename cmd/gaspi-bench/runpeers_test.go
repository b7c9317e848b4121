package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer/peertest"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestPeerFlagsThatMakeNoSense(t *testing.T) {
	t.Setenv(envProvider, "")
	beside := func(args ...string) []string { return append(args, "--peer", "openmpi") }
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown peer", []string{"allreduce", "--peer", "lam"}, `--peer "lam": expected a list of openmpi, mpich, gaspi-c, libfabric, libfabric-descriptor, libfabric-thread`},
		{"no peer", []string{"allreduce", "--peer", ""}, "--peer: expected a list of openmpi, mpich, gaspi-c, libfabric, libfabric-descriptor, libfabric-thread; found an empty one"},
		{"the same twice", []string{"allreduce", "--peer", "mpich,mpich"}, "--peer: mpich is named twice"},
		{"rounds of nothing", []string{"allreduce", "--repetitions", "3"}, "--repetitions: there is nothing to compare with; add --peer"},
		{"segments of something else", []string{"reduce", "--peer", "mpich", "--peer-segments", "4"}, "--peer-segments: reduce has none, only allreduce; drop the flag"},
		{"no segments", []string{"allreduce", "--peer", "mpich", "--peer-segments", "0"}, "--peer-segments 0: expected 1 to 64"},
		{"best of nothing", []string{"allreduce", "--peer-best"}, "--peer-best: there is nothing to compare with; add --peer"},
		{"no rounds", beside("allreduce", "--repetitions", "0"), "--repetitions 0: expected at least 1"},
		{"no patience", beside("allreduce", "--peer-limit", "10ms"), "--peer-limit 10ms: expected at least 1s"},
		{"loopback", beside("allreduce", "--transport", "loopback"), "--transport loopback: peers are processes"},
		{"limit alone", beside("allreduce", "--side", "limit"), "--side limit: there would be nothing to compare peers with"},
		{"emulated network", beside("allreduce", "--emulate", "latency=1ms"), "--emulate: peers have no emulated network"},
		{"operation of ours", beside("notify-rate"), "--peer: MPI has nothing to compare notify-rate with"},
		{"another of ours", beside("exchange"), "--peer: MPI has nothing to compare exchange with"},
		{"tune", beside("tune"), "--peer: MPI has nothing to compare tune with"},
		{"MPI over rdma", beside("latency", "--transport", "rdma"), "--peer openmpi: it is measured over shm and tcp; over rdma, use --peer libfabric"},
		{"libfabric over tcp", []string{"latency", "--transport", "tcp", "--peer", "libfabric"}, "--peer libfabric: it is measured over rdma alone; add --transport rdma"},
		{"libfabric of more", []string{"latency", "--transport", "rdma", "-n", "3", "--peer", "libfabric"}, "-n 3: libfabric is measured between 2 ranks"},
		{"libfabric of nobody", []string{"latency", "--transport", "rdma", "--peer", "libfabric-thread"}, "--peer libfabric-thread: both sides need the same provider; set GASPI_RDMA_PROVIDER"},
		{"threshold", beside("reduce", "--threshold", "0.5"), "--threshold: MPI has nothing to compare it with"},
		{"half precision", beside("allreduce", "--dtype", "bfloat16"), "--dtype bfloat16: MPI has no such type"},
		{"all of ours", beside("allreduce", "--algorithm", "all"), "--algorithm all: one of ours is compared"},
		{"algorithm of nobody", beside("allreduce", "--peer-algorithm", "ring"), `--peer-algorithm "ring": expected a peer and its algorithm`},
		{"algorithm of another", beside("allreduce", "--peer-algorithm", "mpich:ring"), "--peer-algorithm mpich:ring: mpich is no peer here"},
		{"forced and best", beside("allreduce", "--peer-algorithm", "openmpi:ring", "--peer-best"), "--peer-best measures all algorithms"},
		{"nameless drawing", []string{"allreduce", "--plot", ""}, "--plot needs the name of a file"},
		{"drawing without sizes", []string{"barrier", "--plot", "x.svg"}, "--plot: barrier has no sizes to draw over"},
		{"rows of tune", []string{"tune", "--osu"}, "--osu: there are no rows to show"},
		{"rows of what is explained", []string{"allreduce", "--explain", "--osu"}, "--osu: there are no rows to show"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := gaspiBench(t, c.args...)
			if code != exitUsage || stdout != "" {
				t.Errorf("exit code %d, want %d; output:\n%s", code, exitUsage, stdout)
			}
			if !strings.HasPrefix(stderr, "gaspi-bench: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("said %q, want one line with %q", stderr, c.want)
			}
		})
	}
}

// Our ranks get the flags that were given, but for those of peers and output.
func TestArgsOfOurs(t *testing.T) {
	o, err := parse([]string{
		"allreduce", "-n", "3", "--sizes", "8,1KiB", "--peer", "openmpi,mpich", "--repetitions=2", "--json", "x", "--plot", "y", "--osu",
		"--dtype", "int32", "--verify", "--time", "5ms", "--peer-algorithm", "openmpi:ring",
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(o.args[1:])
	want := []string{"allreduce", "--dtype=int32", "--n=3", "--sizes=8,1KiB", "--time=5ms", "--transport=shm", "--verify=true"}
	if d := cmp.Diff(want, o.args); d != "" {
		t.Errorf("arguments (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string][]string{"openmpi": {"ring"}}, o.peers.Algorithms); d != "" {
		t.Errorf("algorithms (-want +got):\n%s", d)
	}
}

// fakeMPI puts a library made of shell scripts into PATH, alone. Its launcher prints
// times for each point; $point may do otherwise.
func fakeMPI(t *testing.T, otherwise string) peertest.Fake {
	return peertest.New(t, peertest.Steps("1 30000 10000 20000", otherwise))
}

// A peerLine is a line of the JSON of a run beside peers.
type peerLine struct {
	report.Row
	Comparison *report.Comparison `json:"comparison"`
	Geomean    *report.Mean       `json:"geomean"`
}

// besidePeers runs gaspi-bench with little to measure, and reads what it wrote.
func besidePeers(t *testing.T, args ...string) (stdout string, lines []peerLine) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.json")
	stdout, stderr, code := gaspiBench(t, append(args, "--time", "1ms", "--json", file)...)
	if code != 0 || stderr != "" {
		t.Fatalf("gaspi-bench %v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout, readPeerLines(t, file)
}

// readPeerLines reads the JSON of a run beside peers.
func readPeerLines(t *testing.T, file string) (lines []peerLine) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		var l peerLine
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// summaryOf are the rows as words, with figures only of the fake.
func summaryOf(lines []peerLine) []string {
	var got []string
	for _, l := range lines {
		switch {
		case l.Comparison != nil:
			got = append(got, strings.Join([]string{"comparison", l.Comparison.Op, bytesize.Format(l.Comparison.Bytes)}, " "))
		case l.Geomean != nil:
			got = append(got, "geomean "+l.Geomean.Op+" "+l.Geomean.Of)
		case l.Impl == report.ImplGaspi || l.Impl == report.ImplLimit:
			got = append(got, strings.Join([]string{l.Op, bytesize.Format(l.Bytes), l.Impl, strings.Repeat("*", len(l.Rounds))}, " "))
		case l.Note != "":
			got = append(got, strings.Join([]string{l.Op, bytesize.Format(l.Bytes), l.Impl, l.Version, l.Way, l.Note}, " "))
		default:
			got = append(got, strings.Join([]string{l.Op, bytesize.Format(l.Bytes), l.Impl, l.Version, l.Way, report.Number(l.MinUS), report.Number(l.P50US), report.Number(l.P99US), report.Number(l.MeanUS), strings.Repeat("*", len(l.Rounds))}, " "))
		}
	}
	return got
}

// Goal: both sides are measured in each round, a peer that hangs or fails at a
// point is left out there alone, and everything is in the JSON.
func TestBesideAPeer(t *testing.T) {
	f := fakeMPI(t, `*:128:separate) exec /bin/sleep 60;; *:256:in-place) echo "mpibench: rank 0: it is wrong" >&2; exit 1;;`)
	stdout, lines := besidePeers(t, "allreduce", "--peer", "openmpi", "--repetitions", "2", "--sizes", "8,1KiB,2KiB", "--peer-limit", "3s")
	const figures = " 10.00 20.00 30.00 20.00 **"
	want := []string{
		"allreduce 8 gaspi **", "allreduce 8 limit **",
		"allreduce 8 openmpi 9.8.7 in-place" + figures, "allreduce 8 openmpi 9.8.7 separate" + figures,
		"allreduce 1KiB gaspi **", "allreduce 1KiB limit **",
		"allreduce 1KiB openmpi 9.8.7 in-place" + figures, "allreduce 1KiB openmpi 9.8.7 separate over limit (3s)",
		"allreduce 2KiB gaspi **", "allreduce 2KiB limit **",
		"allreduce 2KiB openmpi 9.8.7 in-place failed (exit status 1: rank 0: it is wrong)", "allreduce 2KiB openmpi 9.8.7 separate" + figures,
		"comparison allreduce 8", "comparison allreduce 1KiB", "comparison allreduce 2KiB",
		"geomean allreduce openmpi", "geomean allreduce better",
	}
	if d := cmp.Diff(want, summaryOf(lines)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	for _, want := range []string{"openmpi 9.8.7    separate                          over limit (3s)\n", "\ngeometric mean of ratios: openmpi "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("there is no %q in the table:\n%s", want, stdout)
		}
	}
	// Three in the first round, as two points end a run, and one in the second.
	if runs := f.Lines(t, "launched"); len(runs) != 4 {
		t.Errorf("%q: want 4 runs", runs)
	}
}

// Goal: a round starts a job of each side, whose ranks know when that was.
func TestStartupBesideAPeer(t *testing.T) {
	f := fakeMPI(t, `*) echo "$GASPI_BENCH_BEGAN" >>began ;;`)
	t.Chdir(f.Dir)
	file := filepath.Join(f.Dir, "rows.json")
	before := time.Now().UnixNano()
	if stdout, stderr, code := gaspiBench(t, "startup", "--peer", "openmpi", "--repetitions", "2", "--json", file); code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	const figures = " 10.00 20.00 30.00 20.00 **"
	want := []string{
		"init 0 gaspi **", "init 0 openmpi 9.8.7 " + figures, "first-barrier 0 gaspi **", "first-barrier 0 openmpi 9.8.7 " + figures,
		"started 0 gaspi **", "started 0 openmpi 9.8.7 " + figures,
		"comparison init 0", "comparison first-barrier 0", "comparison started 0",
		"geomean init openmpi", "geomean init better", "geomean first-barrier openmpi", "geomean first-barrier better",
		"geomean started openmpi", "geomean started better",
	}
	if d := cmp.Diff(want, summaryOf(readPeerLines(t, file))); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	began := f.Lines(t, "began")
	for i, text := range began {
		ns, err := strconv.ParseInt(text, 10, 64)
		if now := time.Now().UnixNano(); err != nil || ns < before || ns > now {
			t.Errorf("point %d of a job that was begun at %q, want %d to %d", i, text, before, now)
		}
	}
	if len(began) != 6 || began[0] != began[2] || began[2] == began[3] {
		t.Errorf("two jobs of three points each were begun at %q", began)
	}
}

func TestBesidePeersFails(t *testing.T) {
	for _, c := range []struct {
		name      string
		otherwise string
		args      []string
		shown     string // of the table; empty if there is none
		want      string
	}{
		{"not installed", "", []string{"allreduce", "--peer", "mpich"}, "", "MPICH is not installed: no mpicc.mpich in PATH; on Debian, apt-get install mpich libmpich-dev gcc"},
		{"garbage", "*) echo times 0 x;;", []string{"allreduce", "--peer", "openmpi", "--sizes", "8", "--time", "1ms"},
			"allreduce of float64, sum; not complete: ended in round 1 of 5; medians of the rounds that a row has\n", `Open MPI: "x" in a line of the benchmark is no number`},
		{"no list of algorithms", "", []string{"allreduce", "--peer", "openmpi", "--peer-best"}, "", "listing the algorithms of Open MPI"},
		{"unwritable file", "", []string{"allreduce", "--peer", "openmpi", "--json", "/missing/rows.json"}, "", "name a file that can be written"},
		{"unwritable drawing", "", []string{"allreduce", "--peer", "openmpi", "--plot", "/missing/rows.svg"}, "", "name a file that can be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeMPI(t, c.otherwise)
			stdout, stderr, code := gaspiBench(t, c.args...)
			if code != exitFailed || (stdout != "") != (c.shown != "") || !strings.Contains(stdout, c.shown) {
				t.Errorf("exit code %d, want %d; output, which is to have %q:\n%s", code, exitFailed, c.shown, stdout)
			}
			if !strings.HasPrefix(stderr, "gaspi-bench: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("said %q, want one line with %q", stderr, c.want)
			}
		})
	}
}

// Goal: what was measured before an interrupt is shown and written, and the run has failed.
func TestBesidePeersIsInterrupted(t *testing.T) {
	fakeMPI(t, `*:128:separate) n=0; while read -r line; do n=$((n+1)); done <"${0%/*}/launched"
[ $n = 1 ] || { kill -INT $PPID; exec /bin/sleep 60; };;`)
	dir := t.TempDir()
	rows, plot := filepath.Join(dir, "rows.json"), filepath.Join(dir, "rows.svg")
	stdout, stderr, code := gaspiBench(t, "allreduce", "--peer", "openmpi", "--sizes", "8,1KiB", "--time", "1ms", "--json", rows, "--plot", plot)
	if want := "gaspi-bench: interrupted in round 2 of 5; shown is what was measured until then\n"; code != exitFailed || stderr != want {
		t.Errorf("exit code %d, said %q; want %d, %q", code, stderr, exitFailed, want)
	}
	for _, want := range []string{"not complete: ended in round 2 of 5", "openmpi 9.8.7    separate", "geometric mean of ratios: openmpi "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("there is no %q in\n%s", want, stdout)
		}
	}
	got, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	// Two rows of ours, two of the limit, four of the peer; two comparisons, and two means.
	if n := strings.Count(string(got), "\n"); n != 12 {
		t.Errorf("%d lines of JSON, want 12:\n%s", n, got)
	}
	if drawn, err := os.ReadFile(plot); err != nil || !strings.Contains(string(drawn), "</svg>") {
		t.Errorf("the drawing has %d bytes, %v", len(drawn), err)
	}
}

// Goal: a run beside both libraries, over memory and over TCP.
func TestBesideMPI(t *testing.T) {
	testenv.Need(t, "mpicc.openmpi", "mpirun.openmpi", "mpicc.mpich", "mpiexec.mpich", "ompi_info")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		name string
		args []string
		want []string // impls of the comparisons
	}{
		{"allreduce", []string{"allreduce", "--sizes", "8,5000", "--dtype", "float32", "--peer", "openmpi,mpich"}, []string{"openmpi", "mpich"}},
		{"forced", []string{"alltoall", "--sizes", "1000", "--peer", "openmpi", "--peer-algorithm", "openmpi:pairwise,openmpi:linear"}, []string{"openmpi"}},
		{"latency over tcp", []string{"latency", "--sizes", "8", "--transport", "tcp", "--peer", "mpich"}, []string{"mpich"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, lines := besidePeers(t, append(c.args, "--repetitions", "1", "--peer-limit", "5m")...) // MPICH polls, and yields to nobody
			found := 0
			for _, l := range lines {
				if l.Note != "" {
					t.Errorf("%s of %d: %s: %s", l.Op, l.Bytes, l.Impl, l.Note)
				}
				if l.Comparison == nil {
					continue
				}
				found++
				if l.Comparison.Ratio <= 0 {
					t.Errorf("no ratio: %+v", l.Comparison)
				}
				var got []string
				for _, p := range l.Comparison.Peers {
					if !slices.Contains(got, p.Impl) {
						got = append(got, p.Impl)
					}
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Errorf("compared with (-want +got):\n%s", d)
				}
			}
			if found == 0 {
				t.Errorf("nothing was compared: %+v", lines)
			}
		})
	}
}

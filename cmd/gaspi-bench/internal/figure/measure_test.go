package figure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

func TestArguments(t *testing.T) {
	s := &Sweep{
		Op: schedule.AllReduce,
		Grids: map[Setting]Grid{
			Emulated: {Bytes: []int{kib, mib}, FoldRate: 100e6, Link: "latency=1us", Scale: 4},
			Raw:      {Bytes: []int{mib}},
		},
	}
	for _, c := range []struct {
		name string
		line Line
		way  Setting
		want string
	}{
		{"whole, raw", whole("a", "ring"), Raw, "allreduce -n 3 --sizes 1048576 --algorithm ring --segments 1 --transport shm"},
		{"segments", Line{Algorithm: "ring", Segments: 4, SegmentBytes: 400}, Emulated,
			"allreduce -n 3 --sizes 1024,1048576 --algorithm ring --segments 4 --segment-size 100 --fold-rate 100000000 --emulate latency=1us"},
		{"without arithmetic", Line{Algorithm: "ring", NoOp: true}, Emulated,
			"allreduce -n 3 --sizes 1024,1048576 --algorithm ring --segments 1 --no-op --emulate latency=1us"},
		{"a library", Line{Name: "mpich", Peer: "mpich"}, Raw, "allreduce -n 3 --sizes 1048576 --transport shm --side gaspi --peer mpich --peer-segments 1 --repetitions 1"},
		{"thresholds", Line{Algorithm: "binomial", Threshold: 0.25, Processes: 0.5}, Raw,
			"allreduce -n 3 --sizes 1048576 --algorithm binomial --segments 1 --threshold 0.25 --processes 0.5 --transport shm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(s.arguments(c.line, 3, c.way), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// fakeBench is a gaspi-bench that answers at once: with body, in which $file is the file
// for rows.
func fakeBench(t *testing.T, body string) Bench {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bench")
	script := "#!/bin/sh\nfor a; do file=$a; done\n" + body + "\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Bench{Runner: subprocess.Runner{Program: program, Time: time.Millisecond}, Rounds: 3}
}

func measured() *Sweep {
	return &Sweep{
		Op: schedule.AllReduce, Lines: []Line{whole("a", "ring")},
		Grids: map[Setting]Grid{Raw: {Ranks: []int{2}, Bytes: []int{8, 16}}},
	}
}

func TestMeasure(t *testing.T) {
	b := fakeBench(t, `count=$(cat "$0.count" 2>/dev/null); count=$((count + 1)); echo $count > "$0.count"
printf '{"impl":"gaspi","bytes":8,"p50_us":%s}\n{"impl":"limit","bytes":8,"p50_us":9}\n{"impl":"gaspi","bytes":16,"p50_us":8}\n' $count > "$file"`)
	times, err := measured().measure(t.Context(), &Lab{Bench: b}, Raw, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	x, _ := times.At("a", 2, 8)
	if want := (Timing{Seconds: 2e-6, Low: 1e-6, High: 3e-6}); x != want {
		t.Errorf("three rounds of 1, 2 and 3 us give %v, want %v", x, want)
	}
	if x, ok := times.At("a", 2, 16); !ok || x.Seconds != 8e-6 {
		t.Errorf("the other length has %v, %v", x, ok)
	}
}

// Goal: a doubt about the only time of a part is told as one about one time, and what is missing of a round is named.
func TestWordsOfFewTimes(t *testing.T) {
	times := NewTimes(Raw, Grid{}, "")
	times.cores = 2
	times.note(Point{"a", 8, mib}, 0, &report.Row{P50US: 10})
	times.settle()
	if want := "this host could not carry more ranks than its 2 cores in the only time that was measured"; times.Doubt != want {
		t.Errorf("the doubt is told as %q, want %q", times.Doubt, want)
	}
	turns := make([]turn, 10)
	for i := range turns {
		turns[i].doing = string(rune('a' + i))
	}
	for want, got := range map[string]string{
		"; missing, in whole or in part: a, b, c, d, e, f, g, h, 2 more": times.rest(0, turns),
		"; missing, in whole or in part: j":                              times.rest(0, turns[9:]),
		"; each time is of 2 or 3 rounds":                                times.rest(2, turns),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Goal: a library counts by the fastest of its ways at each length, and one that failed has no time.
func TestMeasurePeer(t *testing.T) {
	b := fakeBench(t, `cat > "$file" <<END
{"impl":"gaspi","bytes":8,"p50_us":1}
{"impl":"mpich","way":"in-place","bytes":8,"p50_us":5}
{"impl":"mpich","way":"separate","bytes":8,"p50_us":4}
{"impl":"mpich","way":"in-place","bytes":16,"note":"failed"}
{"comparison":{}}
END`)
	s, err := measured().beside([]string{"mpich"})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range Ways() {
		if n := len(s.in(way)); n != map[bool]int{true: 2, false: 1}[way == Raw] {
			t.Errorf("%d lines in %v", n, way)
		}
	}
	s.Lines = s.Lines[1:]
	if _, err := s.beside([]string{"openmpi"}); err == nil || !strings.Contains(err.Error(), "add --peer mpich") {
		t.Errorf("a sweep of another library: %v", err)
	}
	times, err := s.measure(t.Context(), &Lab{Bench: b}, Raw, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	x, ok := times.At("mpich", 2, 8)
	if _, failed := times.At("mpich", 2, 16); !ok || x.Seconds != 4e-6 || failed {
		t.Errorf("%v, %v, and a time of a length that failed: %v", x, ok, failed)
	}
}

// Goal: a figure of one library takes that which is installed in a folder, too.
func TestPeerInAFolder(t *testing.T) {
	f := ofLibrary("f", "", "mpich", "MPICH")
	s, err := f.Sweep.beside([]string{"openmpi", "mpich=/opt/mpich"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Lines[0].Peer; got != "mpich=/opt/mpich" || len(s.Lines) != len(f.Sweep.Lines) || f.Sweep.Lines[0].Peer != "mpich" {
		t.Errorf("%d lines, of which the first has %q and had %q", len(s.Lines), got, f.Sweep.Lines[0].Peer)
	}
}

func TestMeasureEndsWithItsBudget(t *testing.T) {
	b := fakeBench(t, `echo >> "$0.count"; printf '{"impl":"gaspi","p50_us":1}\n{"impl":"gaspi","p50_us":1}\n' > "$file"`)
	if _, err := measured().measure(t.Context(), &Lab{Bench: b}, Raw, time.Now()); err != nil {
		t.Fatal(err)
	}
	if runs, err := os.ReadFile(b.Program + ".count"); err != nil || len(runs) != 1 {
		t.Errorf("%d rounds, %v; want the one that cannot be left out", len(runs), err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"it fails", `echo "one" >&2; echo "gaspi-bench: no such link" >&2; exit 1`, "gaspi-bench: no such link"},
		{"it writes too much", `for i in 1 2 3; do echo '{"impl":"gaspi","p50_us":1}'; done > "$file"`, "3 rows for 2 lengths"},
		{"it writes nothing", `true`, "no such file"},
		{"it writes nonsense", `echo rows > "$file"`, "reading rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := fakeBench(t, c.body)
			_, err := measured().measure(t.Context(), &Lab{Bench: b}, Raw, time.Now())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// Goal: a turn that fails, as one beside a library that is not installed, leaves the times before it.
func TestMeasureKeepsTimesBeforeAFailure(t *testing.T) {
	b := fakeBench(t, `case "$*" in *--peer*) echo "gaspi-bench: MPICH is not installed" >&2; exit 1;; esac; `+oneRow)
	s, err := measured().beside([]string{"mpich"})
	if err != nil {
		t.Fatal(err)
	}
	times, err := s.measure(t.Context(), &Lab{Bench: b}, Raw, time.Now())
	if err != nil || !strings.Contains(times.Cut, "MPICH is not installed") {
		t.Fatalf("cut by %q, %v", times.Cut, err)
	}
	if x, ok := times.At("a", 2, 16); !ok || x.Seconds != 1e-6 {
		t.Errorf("%v, %v", x, ok)
	}
}

// Goal: what cannot be measured is a part that says why, and does not end the report.
func TestRunGoesOn(t *testing.T) {
	f := &Figure{Name: "x", Sweep: measured(), Claims: []Claim{{Text: "c", Number: faster("a", "a", 2), Paper: exactly(1, "p")}}}
	lab := &Lab{Bench: fakeBench(t, "exit 3"), Ways: Ways(), Budget: time.Minute}
	r, err := lab.Run(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 1 || r.Parts[0].Missing == "" || len(r.Parts[0].Verdicts) != 1 || r.Parts[0].Verdicts[0].Outcome != Unknown {
		t.Errorf("got %+v", r.Parts)
	}
	lab.Bench, lab.Budget = fakeBench(t, "exec sleep 60"), 50*time.Millisecond
	if r, err = lab.Run(t.Context(), f); err != nil || r.Parts[0].Missing != errLate.Error() {
		t.Errorf("a figure that takes too long gives %+v, %v", r, err)
	}
}

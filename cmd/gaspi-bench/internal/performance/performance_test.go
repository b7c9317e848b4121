package performance

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
	"github.com/gaspi-go/gaspi-go/internal/chart"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// sample has a latency with everything, one of which a library failed, a barrier alone, and rows of the
// tables that have columns of their own.
func sample() *Measured {
	row := func(op, impl, transport string, bytes uint64, us float64) report.Row {
		return report.Row{Op: op, Impl: impl, Transport: transport, N: 2, Bytes: bytes, P50US: us}
	}
	first := row("first-alltoall", report.ImplGaspi, "loopback", 8, 50)
	first.N, first.CPUUSPerCall = 1024, 1234
	overlap := func(what string, us float64) report.Row {
		r := row("overlap-"+what, report.ImplGaspi, "emulated shm", 4<<20, us)
		r.Emulated, r.CPUUSPerCall = "latency=2ms,bandwidth=200MB/s", 100
		return r
	}
	invalid := row("overlap-alone", report.ImplGaspi, "tcp", 4<<20, 5)
	invalid.Invalid = true
	object := func(impl string, us float64) report.Row {
		r := row("object-broadcast", impl, "shm", 8<<20, us)
		r.N = 4
		return r
	}
	failed := row("latency", "mpich", "tcp", 8, 0)
	failed.Note = "failed"
	return &Measured{Date: "1 May 2026", Host: "a host", Rows: []report.Row{
		row("latency", report.ImplGaspi, "shm", 8, 0.5), row("latency", report.ImplLimit, "shm", 8, 0.4), row("latency", report.ImplLimit, "shm", 8, 0.25),
		row("latency", "mpich", "shm", 8, 2), row("latency", "openmpi", "shm", 8, 1), row("latency", report.ImplGaspi, "shm", 1<<20, 123.4),
		row("latency", report.ImplGaspi, "tcp", 8, 5), failed, row("barrier", report.ImplGaspi, "shm", 0, 1234.5),
		row("overlap-both", report.ImplGaspi, "shm", 4<<20, 7), overlap("alone", 400), overlap("wait", 4), overlap("compute", 1500), overlap("both", 1760), invalid,
		first, object(report.ImplGaspi, 200), object(report.ImplStatic, 500), object(report.ImplChain, 100),
	}}
}

func TestWriteMarkdown(t *testing.T) {
	var page strings.Builder
	if err := sample().WriteMarkdown(&page); err != nil {
		t.Fatal(err)
	}
	_, got, ok := strings.Cut(page.String(), "Measured on 1 May 2026: a host.\n")
	want := `
## Latency

In microseconds, one way; delivery is until the receiver has read all:

| ranks | over | operation | 8 B | 1 KiB | 64 KiB | 1 MiB | 8 MiB |
|---|---|---|---|---|---|---|---|
| 2 | shm | latency | 0.5 (2, 2) | - | - | 123 (-, -) | - |
| 2 | shm | delivery | - | - | - | - | - |
| 2 | tcp | latency | 5 (-, -) | - | - | - | - |
| 2 | tcp | delivery | - | - | - | - | - |

    gaspi-bench latency -n 2 --transport shm --bind core --peer openmpi,mpich

## Barrier

In microseconds:

| ranks | over | time |
|---|---|---|
| 2 | shm | 1234 (-, -) |
| 2 | tcp | - |
| 4 | shm | - |
| 4 | tcp | - |

    gaspi-bench barrier -n 2 --transport shm --bind core --peer openmpi,mpich

## First calls

In microseconds of processor time of a rank, the mean of all ranks in one run; bytes of a vector, in an alltoall of all
blocks:

| ranks | over | allreduce 8 B | allreduce 128 KiB | alltoall 8 B | alltoall 128 KiB | broadcast 8 B | broadcast 128 KiB |
|---|---|---|---|---|---|---|---|
| 8 | shm | - | - | - | - | - | - |
| 64 | shm | - | - | - | - | - | - |
| 256 | shm | - | - | - | - | - | - |
| 1024 | loopback | - | - | 1234 | - | - | - |

    gaspi-bench first-call -n 8 --transport shm

## Overlap

In microseconds of one run, an allreduce of 4 MiB alone; Wait after a pause of four times as long, as a part of that;
computing as long beside it, by the sum of computing and the processor time of a call:

| ranks | over | alone | Wait | beside computing |
|---|---|---|---|---|
| 2 | shm | - | - | - |
| 2 | tcp | - | - | - |
| 2 | shm, latency=2ms,bandwidth=200MB/s | 400 | 1.0 % | 1.1 |

    gaspi-bench overlap -n 2 --transport shm

## Objects

In microseconds of one run, and the time of the collective operation by ours:

| ranks | over | operation | 1 MiB | 8 MiB | 64 MiB |
|---|---|---|---|---|---|
| 4 | shm | object-allreduce | - | - | - |
| 4 | shm | object-broadcast | - | 200 (2.5) | - |

    gaspi-bench object-allreduce -n 4 --transport shm --static auto
`
	if d := cmp.Diff(want, got); !ok || d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for line := range strings.Lines(page.String()) {
		if len(line) > lineLength+1 && !strings.HasPrefix(line, "|") {
			t.Errorf("%d bytes in the line %q", len(line), line)
		}
	}
}

func TestPicture(t *testing.T) {
	c, err := sample().Picture()
	want := []chart.Ratio{{Name: "8 bytes one way, shared memory", Note: "0.5 us, 2x", Value: 2}}
	if d := cmp.Diff(want, c.Rows); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, err := (&Measured{}).Picture(); err == nil {
		t.Error("a picture of nothing was made")
	}
}

// fakeBench is a gaspi-bench that writes its arguments and a row, until the limit-th time.
func fakeBench(t *testing.T, limit string) *Benchmarks {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bench")
	script := `#!/bin/sh
for a; do file=$a; done
echo "$@" >> "$0.log"
if [ $(wc -l < "$0.log") -ge ` + limit + ` ]; then echo "gaspi-bench: too often" >&2; exit 1; fi
printf '{"op":"%s","impl":"gaspi","n":2,"p50_us":1}\n{"comparison":{}}\n' "$1" > "$file"
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Benchmarks{Runner: subprocess.Runner{Program: program, Time: time.Millisecond}, Peers: []string{"mpich"}, Repetitions: 3}
}

// TestMeasure measures everything, and keeps the rows that there were before an error.
func TestMeasure(t *testing.T) {
	b, file := fakeBench(t, "1000"), filepath.Join(t.TempDir(), "rows.json")
	if err := b.Measure(t.Context(), file, "h"); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(b.Program + ".log")
	if err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(string(log)), "\n")
	if !strings.HasPrefix(commands[0], "latency -n 2 --transport shm --bind core --sizes 8,1024,65536,1048576,8388608 --peer mpich --repetitions 3 --time 1ms --json ") ||
		!slices.ContainsFunc(commands, func(c string) bool {
			return strings.HasPrefix(c, "barrier -n 4 --transport tcp --bind core --peer mpich --repetitions 3 ")
		}) ||
		!slices.ContainsFunc(commands, func(c string) bool {
			return strings.HasPrefix(c, "allreduce -n 256 --transport shm --sizes 8,131072 --time")
		}) {
		t.Errorf("commands:\n%s", log)
	}
	m, err := Load(file)
	if err != nil || len(m.Rows) != len(commands) || m.Host != "h" || m.Date == "" {
		t.Errorf("%v: %d rows of %d commands", err, len(m.Rows), len(commands))
	}
	b = fakeBench(t, "3")
	err = b.Measure(t.Context(), file, "h")
	if m, bad := Load(file); err == nil || !strings.Contains(err.Error(), "too often") || bad != nil || len(m.Rows) != 2 {
		t.Errorf("%v; %v, %+v", err, bad, m)
	}
}

// TestArguments: a setup of many ranks is measured in few rounds, and beside Open MPI alone.
func TestArguments(t *testing.T) {
	b := &Benchmarks{Peers: []string{"mpich", "openmpi=/opt/ompi5"}, Repetitions: 3}
	c := manyRanks().commands[0]
	for rounds, want := range map[int]string{0: "3", 1: "1", 5: "3"} {
		got := strings.Join(b.arguments(c, setup{ranks: 256, over: "shm", rounds: rounds}), " ")
		if want := "startup -n 256 --transport shm --peer openmpi=/opt/ompi5 --repetitions " + want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := strings.Join(b.arguments(overlaps().commands[0], overlaps().setups[2]), " ")
	if want := "overlap -n 2 --transport shm --emulate latency=2ms,bandwidth=200MB/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLoadRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.json")
	for text, want := range map[string]string{"{}": "has no rows", "rows": "; expected a file that gaspi-bench performance --measure has written"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Load("/dev/zero"); err == nil || !strings.Contains(err.Error(), `--rows "/dev/zero": it is no regular file but a device`) {
		t.Errorf("%v", err)
	}
	if _, err := Load(file + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestDocuments: the page and the picture are those that the committed rows give, so that no
// number in them was written by hand.
func TestDocuments(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "docs")
	m, err := Load(filepath.Join(docs, "figures", "performance.json"))
	if err != nil {
		t.Fatal(err)
	}
	drawing, err := m.Picture()
	if err != nil {
		t.Fatal(err)
	}
	var page, light, dark bytes.Buffer
	if err := errors.Join(m.WriteMarkdown(&page), drawing.WriteSVG(&light, chart.Light), drawing.WriteSVG(&dark, chart.Dark)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*bytes.Buffer{"PERFORMANCE.md": &page, "figures/speed-light.svg": &light, "figures/speed-dark.svg": &dark} {
		got, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("docs/%s is not as gaspi-bench performance writes it (%v); --help has the command", name, err)
		}
	}
}

func TestFastestCounts(t *testing.T) {
	if f := sample().of("latency", setup{ranks: 2, over: "shm"}, 8); f.ours != 0.5 || f.limit != 0.25 || f.peer != 1 {
		t.Errorf("%+v, want 0.5, 0.25 and 1", f)
	}
	if f := sample().of("latency", setup{ranks: 2, over: "tcp"}, 8); f.ours != 5 || !math.IsNaN(f.limit) || !math.IsNaN(f.peer) {
		t.Errorf("%+v, want 5 alone", f)
	}
}

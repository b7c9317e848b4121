package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Goal: tune writes a machine that package collectives takes, shows all of it, and
// compares it with calls of as few and of more ranks than cores.
func TestTune(t *testing.T) {
	cores, err := sys.ThreadCores()
	if err != nil {
		t.Fatal(err)
	}
	if len(cores) < 2 {
		t.Skip("tune needs two cores")
	}
	file := filepath.Join(t.TempDir(), "machine.json")
	stdout, stderr, code := gaspiBench(t, "tune", "--time", "1ms", "--sizes", "8,64KiB", "--out", file)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"\n  shared.latency ", "\n  switch ", ", 2 ranks:\n", "    64KiB  ring ", "        8  dissemination "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing in:\n%s", want, stdout)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m price.Machine
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	for name, v := range map[string]float64{
		"call": m.Call, "await": m.Await, "step": m.Step, "latency": m.Shared.Latency, "put": m.Shared.Put,
		"signal": m.Shared.Signal, "reduce rate": m.ReduceRate, "copy rate": m.CopyRate, "memory": m.Memory, "memory of a core": m.CoreMemory,
		"network latency": m.Network.Latency, "bandwidth": m.Bandwidth,
	} {
		if v <= 0 {
			t.Errorf("%s is %v, want more than 0", name, v)
		}
	}
	if m.Cores != len(cores) {
		t.Errorf("%d cores, want %d", m.Cores, len(cores))
	}
	t.Setenv(envMachine, file)
	if rows := rowsOf(t, "allreduce", "--sizes", "8"); len(rows) != 2 {
		t.Errorf("with the file: rows %+v, want a pair", rows)
	}
}

func TestBadTuneInputIsOneSentence(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "machine.json")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"ranks", []string{"tune", "-n", "4"}, exitUsage, "-n: tune chooses its ranks"},
		{"transport", []string{"tune", "--transport", "loopback"}, exitUsage, "--transport: tune chooses its ranks"},
		{"rows", []string{"tune", "--json", "rows.json"}, exitUsage, "--json: tune chooses its ranks, and its file is named by --out"},
		{"algorithm", []string{"tune", "--algorithm", "ring"}, exitUsage, "--algorithm: tune is no collective operation"},
		{"nameless file", []string{"tune", "--out", ""}, exitUsage, "--out needs the name of a file"},
		{"file of another operation", []string{"latency", "--out", "x"}, exitUsage, "--out: only tune writes a file of parameters"},
		{"unwritable file", []string{"tune", "--out", missing}, exitFailed, "--out " + missing + ": no such file or directory; name a file that can be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := gaspiBench(t, c.args...)
			if code != c.code || stdout != "" {
				t.Errorf("exit code %d, want %d; output:\n%s", code, c.code, stdout)
			}
			if !strings.HasPrefix(stderr, "gaspi-bench: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("said %q, want one line with %q", stderr, c.want)
			}
		})
	}
}

func TestSolve(t *testing.T) {
	square := func(x float64) (float64, error) { return x * x, nil }
	got, err := solve(2.25, 8, square)
	if err != nil || got < 1.5-1e-9 || got > 1.5+1e-9 {
		t.Errorf("the root of 2.25 is %v, %v; want 1.5", got, err)
	}
	if got, err := solve(-1, 8, square); err != nil || got > 1e-9 {
		t.Errorf("below the least there is %v, %v; want 0", got, err)
	}
	broken := errors.New("broken")
	if _, err := solve(1, 8, func(float64) (float64, error) { return 0, broken }); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		name   string
		rates  []float64
		memory float64
		cache  int
	}{
		{"falls", []float64{40, 38, 35, 11, 10}, 10, 2 * 4},
		{"falls slowly", []float64{40, 30, 21, 15, 10}, 10, 2 * 4},
		{"starts slowly", []float64{10, 40, 38, 12, 10}, 10, 2 * 4},
		{"never falls", []float64{40, 40, 40, 40, 40}, 40, 2 * 16},
	} {
		memory, cache := beyond([]uint64{1, 2, 4, 8, 16}, c.rates)
		if memory != c.memory || cache != c.cache {
			t.Errorf("%s: memory %v and cache %d, want %v and %d", c.name, memory, cache, c.memory, c.cache)
		}
	}
}

func TestVerdict(t *testing.T) {
	off, lost := verdict([]guess{
		{bytes: 8, algorithm: "a", predicted: 2, measured: 1},
		{bytes: 8, algorithm: "b", predicted: 1, measured: 4}, // chosen, 4 times the fastest
		{bytes: 64, algorithm: "a", predicted: 3, measured: 1},
		{bytes: 64, algorithm: "b", predicted: 6, measured: 6},
		{bytes: 99, algorithm: "b", predicted: 1, measured: 1},
	})
	if off != 2 || lost != 4 {
		t.Errorf("off by %v, lost %v; want 2 and 4", off, lost)
	}
}

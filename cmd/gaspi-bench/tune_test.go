package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/model"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// Goal: tune writes a machine that package collectives takes, shows all of it, and
// compares it with calls of as few and of more ranks than cores.
func TestTune(t *testing.T) {
	cores := coresOf(t)
	if len(cores) < 2 {
		t.Skip("tune needs two cores")
	}
	file := filepath.Join(t.TempDir(), "machine.json")
	stdout, stderr, code := gaspiBench(t, "tune", "--time", "1ms", "--sizes", "8,64KiB,256KiB", "--out", file)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"\n  shared.latency ", "\n  switch ", ", 2 ranks:\n", "    64KiB  ring ", "   256KiB  ring ", "        8  dissemination "} {
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
	t.Setenv(model.EnvMachine, file)
	if rows := rowsOf(t, "allreduce", "--sizes", "8"); len(rows) != 2 {
		t.Errorf("with the file: rows %+v, want a pair", rows)
	}
}

func TestBadTuneInputIsOneSentence(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "machine.json")
	unwritable := "--out " + missing + ": no such file or directory; name a file that can be written"
	if len(coresOf(t)) < 2 {
		unwritable = "tune needs two cores"
	}
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
		{"unwritable file", []string{"tune", "--out", missing}, exitFailed, unwritable},
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

// coresOf returns the cores on which the test may run.
func coresOf(t *testing.T) []int {
	t.Helper()
	cores, err := thread.Cores()
	if err != nil {
		t.Fatal(err)
	}
	return cores
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/dnn"
)

// dnnRow is what a row of dnn is about.
type dnnRow struct {
	Impl, Mode, Algorithm, Transport string
	N, Fuse, Messages                int
}

// TestDNN replays a network on every transport, and prices it: each figure of the
// table is in the file too, and the chart is drawn.
func TestDNN(t *testing.T) {
	measured := func(n int, transport string) []dnnRow {
		return []dnnRow{
			{Impl: "gaspi", Mode: "compute only", Transport: transport, N: n},
			{Impl: "gaspi", Mode: "threaded", Algorithm: "auto", Transport: transport, N: n, Fuse: 0, Messages: 454},
			{Impl: "gaspi", Mode: "nonblocking", Algorithm: "auto", Transport: transport, N: n, Fuse: 0, Messages: 454},
			{Impl: "gaspi", Mode: "threaded", Algorithm: "auto", Transport: transport, N: n, Fuse: 4 << 20, Messages: 2},
			{Impl: "gaspi", Mode: "nonblocking", Algorithm: "auto", Transport: transport, N: n, Fuse: 4 << 20, Messages: 2},
		}
	}
	few := []string{"--model", "resnet110", "--compute-scale", "0.01", "--repetitions", "1", "--fuse", "0,4MiB", "--mode", "threaded,nonblocking"}
	for _, c := range []struct {
		name string
		args []string
		want []dnnRow
	}{
		{"loopback", append(slices.Clone(few), "--transport", "loopback", "-n", "3"), measured(3, "loopback")},
		{"shm", append(slices.Clone(few), "--transport", "shm"), measured(2, "shm")},
		{"tcp, spinning", append(slices.Clone(few), "--transport", "tcp", "--compute", "spin"), measured(2, "tcp")},
		{"simulated, on a network", []string{"--model", "alexnet", "--simulate", "--emulate", "latency=1ms,bandwidth=10GB/s", "--fuse", "0", "--mode", "blocking"}, []dnnRow{
			{Impl: "model", Mode: "compute only", N: 2},
			{Impl: "model", Mode: "blocking", Algorithm: "auto", N: 2, Fuse: 0, Messages: 16},
		}},
		{"simulated", []string{"--model", "vgg11", "--simulate", "-n", "9", "--fuse", "64MiB", "--algorithm", "halving,ringx4", "--mode", "blocking"}, []dnnRow{
			{Impl: "model", Mode: "compute only", N: 9},
			{Impl: "model", Mode: "blocking", Algorithm: "halving", N: 9, Fuse: 64 << 20, Messages: 5},
			{Impl: "model", Mode: "blocking", Algorithm: "ringx4", N: 9, Fuse: 64 << 20, Messages: 5},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			rows, plot := filepath.Join(dir, "rows.json"), filepath.Join(dir, "chart.svg")
			stdout, stderr, code := gaspiBench(t, append([]string{"dnn", "--json", rows, "--plot", plot}, c.args...)...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			data, err := os.ReadFile(rows)
			if err != nil {
				t.Fatal(err)
			}
			var got []dnnRow
			var results []dnn.ContenderResult
			for line := range strings.Lines(string(data)) {
				var r dnn.ContenderResult
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatalf("row %q: %v", line, err)
				}
				results = append(results, r)
				got = append(got, dnnRow{r.Impl, string(r.Mode), r.Algorithm, r.Transport, r.N, r.Fuse, r.Messages})
			}
			got[0].Mode = "compute only"
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if want := strings.Join(dnn.Table(results), "\n"); !strings.Contains(stdout, want) {
				t.Errorf("printed\n%swant\n%s", stdout, want)
			}
			if svg, err := os.ReadFile(plot); err != nil || !strings.Contains(string(svg), "<svg") {
				t.Errorf("no chart was drawn: %v", err)
			}
		})
	}
}

// TestDNNRefuses says in one sentence what is wrong.
func TestDNNRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"model", []string{"--model", "bert"}, "alexnet, vgg11, resnet50, resnet110"},
		{"fuse", []string{"--fuse", "0,many"}, "--fuse"},
		{"algorithm", []string{"--algorithm", "telepathy"}, "--algorithm"},
		{"segments", []string{"--algorithm", "ringx0"}, "at least 1"},
		{"mode", []string{"--mode", "never"}, `"never"`},
		{"compute", []string{"--compute", "guess"}, "sleep or spin"},
		{"batch", []string{"--batch", "0"}, "--batch"},
		{"rate", []string{"--flops", "-1"}, "operations per second"},
		{"no rate", []string{"--flops", "NaN"}, "operations per second"},
		{"scale", []string{"--compute-scale", "x"}, "--compute-scale"},
		{"ranks", []string{"-n", "0"}, "-n 0"},
		{"argument", []string{"alexnet"}, "--model"},
		{"empty file", []string{"--plot", ""}, "--plot"},
		{"simulated transport", []string{"--simulate", "--transport", "tcp"}, "--transport"},
		{"simulated mode", []string{"--simulate", "--mode", "nonblocking"}, "--mode: mode nonblocking cannot be simulated"},
		{"network", []string{"--simulate", "--emulate", "bandwidth=much"}, "--emulate"},
		{"unknown", []string{"--dtype", "int8"}, "dtype"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := gaspiBench(t, append([]string{"dnn"}, c.args...)...)
			if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, %q, %q; want %d and a sentence about %s", code, stdout, stderr, exitUsage, c.want)
			}
		})
	}
	// A run that cannot be simulated or written fails later, also in one sentence.
	for _, args := range [][]string{
		{"dnn", "--simulate", "--plot", filepath.Join(t.TempDir(), "missing", "x.svg")},
		{"dnn", "--plot", filepath.Join(t.TempDir(), "missing", "x.svg"), "--transport", "loopback"},
		{"dnn", "--json", filepath.Join(t.TempDir(), "missing", "x.json")},
	} {
		if _, stderr, code := gaspiBench(t, args...); code != exitFailed || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q; want %d and a sentence", args, code, stderr, exitFailed)
		}
	}
	if stdout, _, code := gaspiBench(t, "dnn", "--help"); code != 0 || !strings.Contains(stdout, "--compute-scale FACTOR") {
		t.Errorf("help: exit code %d, %q", code, stdout)
	}
}

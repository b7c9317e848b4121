package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// Goal: every operation with objects runs, its results are right, and a limit stands
// beside it.
func TestObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want []report.Row // Op, Impl, Algorithm, N and Bytes
	}{
		{"round trip", []string{"object-roundtrip", "--sizes", "1,1000,300000"}, []report.Row{
			{Op: "object-roundtrip", Impl: report.ImplGaspi, N: 2, Bytes: 4}, {Op: "object-roundtrip", Impl: report.ImplLimit, N: 2, Bytes: 4},
			{Op: "object-roundtrip", Impl: report.ImplGaspi, N: 2, Bytes: 1000}, {Op: "object-roundtrip", Impl: report.ImplLimit, N: 2, Bytes: 1000},
			{Op: "object-roundtrip", Impl: report.ImplGaspi, N: 2, Bytes: 300000}, {Op: "object-roundtrip", Impl: report.ImplLimit, N: 2, Bytes: 300000},
		}},
		{"round trip beside a rank that has no part", []string{"object-roundtrip", "-n", "3", "--sizes", "80"}, []report.Row{
			{Op: "object-roundtrip", Impl: report.ImplGaspi, N: 3, Bytes: 80}, {Op: "object-roundtrip", Impl: report.ImplLimit, N: 3, Bytes: 80},
		}},
		{"a new entry of the directory", []string{"object-publish", "-n", "3", "--sizes", "4,300000"}, []report.Row{
			{Op: "object-publish", Impl: report.ImplGaspi, N: 3, Bytes: 4}, {Op: "object-publish", Impl: report.ImplLimit, N: 3, Bytes: 4},
			{Op: "object-publish", Impl: report.ImplGaspi, N: 3, Bytes: 300000}, {Op: "object-publish", Impl: report.ImplLimit, N: 3, Bytes: 300000},
		}},
		{"a question to the directory", []string{"object-locate", "-n", "4", "--sizes", "300000"}, []report.Row{
			{Op: "object-locate", Impl: report.ImplGaspi, N: 4, Bytes: 300000}, {Op: "object-locate", Impl: report.ImplLimit, N: 4, Bytes: 300000},
		}},
		{"broadcast", []string{"object-broadcast", "-n", "3", "--sizes", "100001", "--static", "scatter-allgather,auto", "--chunk", "4KiB", "--inline", "1KiB"}, []report.Row{
			{Op: "object-broadcast", Impl: report.ImplGaspi, N: 3, Bytes: 100000},
			{Op: "object-broadcast", Impl: report.ImplStatic, Algorithm: "scatter-allgather", N: 3, Bytes: 100000},
			{Op: "object-broadcast", Impl: report.ImplStatic, Algorithm: "auto", N: 3, Bytes: 100000},
			{Op: "object-broadcast", Impl: report.ImplLimit, N: 3, Bytes: 100000},
		}},
		{"broadcast to ranks that arrive", []string{"object-broadcast", "-n", "4", "--sizes", "8KiB", "--interval", "1ms", "--static", "binomial"}, []report.Row{
			{Op: "object-broadcast", Impl: report.ImplGaspi, N: 4, Bytes: 8192},
			{Op: "object-broadcast", Impl: report.ImplStatic, Algorithm: "binomial", N: 4, Bytes: 8192},
			{Op: "object-broadcast", Impl: report.ImplLimit, N: 4, Bytes: 8192},
		}},
		{"gather", []string{"object-gather", "-n", "3", "--sizes", "70000", "--static", "flat"}, []report.Row{
			{Op: "object-gather", Impl: report.ImplGaspi, N: 3, Bytes: 70000},
			{Op: "object-gather", Impl: report.ImplStatic, Algorithm: "flat", N: 3, Bytes: 70000},
			{Op: "object-gather", Impl: report.ImplLimit, N: 3, Bytes: 70000},
		}},
		{"reduce", []string{"object-reduce", "-n", "4", "--sizes", "300000", "--chunk", "64KiB", "--window", "1", "--static", "ring-gather"}, []report.Row{
			{Op: "object-reduce", Impl: report.ImplGaspi, N: 4, Bytes: 300000},
			{Op: "object-reduce", Impl: report.ImplStatic, Algorithm: "ring-gather", N: 4, Bytes: 300000},
			{Op: "object-reduce", Impl: report.ImplLimit, N: 4, Bytes: 300000},
		}},
		{"reduce of what arrives", []string{"object-reduce", "-n", "3", "--sizes", "4,300000", "--interval", "1ms"}, []report.Row{
			{Op: "object-reduce", Impl: report.ImplGaspi, N: 3, Bytes: 4}, {Op: "object-reduce", Impl: report.ImplLimit, N: 3, Bytes: 4},
			{Op: "object-reduce", Impl: report.ImplGaspi, N: 3, Bytes: 300000}, {Op: "object-reduce", Impl: report.ImplLimit, N: 3, Bytes: 300000},
		}},
		{"allreduce", []string{"object-allreduce", "-n", "3", "--sizes", "300000", "--static", "ring", "--interval", "0s"}, []report.Row{
			{Op: "object-allreduce", Impl: report.ImplGaspi, N: 3, Bytes: 300000},
			{Op: "object-allreduce", Impl: report.ImplStatic, Algorithm: "ring", N: 3, Bytes: 300000},
			{Op: "object-allreduce", Impl: report.ImplLimit, N: 3, Bytes: 300000},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []report.Row
			for _, r := range rowsOf(t, append(c.args, "--transport", "loopback", "--time", "1ms", "--verify")...) {
				if r.Iters < 1 || r.MinUS <= 0 || r.P50US < r.MinUS || r.Transport != "loopback" {
					t.Errorf("figures make no sense: %+v", r)
				}
				if r.Impl == report.ImplChain && r.N > 2 { // on this host, at this time
					r.Impl = report.ImplLimit
				}
				got = append(got, report.Row{Op: r.Op, Impl: r.Impl, Algorithm: r.Algorithm, N: r.N, Bytes: r.Bytes})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Goal: ranks that are processes do the same, and on an emulated network rows say what its
// links take alone.
func TestObjectsOfProcesses(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		rows := rowsOf(t, "object-allreduce", "-n", "3", "--transport", transport, "--sizes", "100000", "--time", "1ms", "--verify")
		if len(rows) != 2 || rows[0].Transport != transport || rows[0].LinksUS != 0 {
			t.Errorf("%s: rows %+v", transport, rows)
		}
	}
	stdout, stderr, code := gaspiBench(t, "object-broadcast", "-n", "3", "--transport", "loopback", "--emulate", "latency=200us,bandwidth=50MB/s", "--sizes", "100000", "--time", "1ms", "--side", "gaspi")
	if code != 0 || !strings.Contains(stdout, "  links alone: 2400 us by S/B + (n-1) L; gaspi ") || strings.Contains(stdout, " limit") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
}

func TestObjectsRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"an interval of something else", []string{"latency", "--interval", "1ms"}, "--interval: latency has nothing to do with objects; drop the flag"},
		{"an interval of a round trip", []string{"object-roundtrip", "--interval", "1ms"}, "--interval: object-roundtrip is between two ranks; drop the flag"},
		{"a time before", []string{"object-reduce", "--interval", "-1ms"}, "--interval -1ms: expected 0 or more"},
		{"no window", []string{"object-reduce", "--window", "0"}, "--window 0: expected at least 1"},
		{"an odd chunk", []string{"object-reduce", "--chunk", "100"}, "--chunk 100: expected a multiple of 64 bytes"},
		{"no chunk", []string{"object-reduce", "--chunk", "much"}, `--chunk: "much" is no size`},
		{"an unknown algorithm", []string{"object-reduce", "--static", "magic"}, "--static: "},
		{"nothing static", []string{"object-roundtrip", "--static", "auto"}, "--static auto: no collective operation does what object-roundtrip does"},
		{"a type", []string{"object-reduce", "--dtype", "int8"}, "--dtype: object-reduce is no collective operation; drop the flag"},
		{"a peer", []string{"object-reduce", "--peer", "mpich"}, "--peer: MPI has nothing to compare object-reduce with"},
		{"one rank", []string{"object-reduce", "-n", "1"}, "-n 1: object-reduce needs at least 2 ranks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := gaspiBench(t, c.args...)
			if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, %q, %q; want one sentence with %q", code, stdout, stderr, c.want)
			}
		})
	}
}

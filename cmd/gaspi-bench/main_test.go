package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// program is the role of a process that is gaspi-bench, and of the ranks that it starts.
const program = "gaspi-bench"

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{program: testenv.Program(main)})
}

// benchCommand returns a command that is gaspi-bench.
func benchCommand(t *testing.T, args []string) *exec.Cmd {
	t.Helper()
	cmd := testenv.Command(t.Context(), program)
	cmd.Args = append(cmd.Args, args...)
	return cmd
}

// gaspiBench runs the command in a process of its own. stderr is what that complains of.
func gaspiBench(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := benchCommand(t, args)
	// The race detector would let each process sleep for a second before it ends.
	cmd.Env = append(cmd.Env, "GORACE=atexit_sleep_ms=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatalf("gaspi-bench %v: %v", args, err)
	}
	return out.String(), testenv.Complaints(errs.String()), cmd.ProcessState.ExitCode()
}

// rowsOf runs gaspi-bench with little to measure and reads the rows it wrote.
func rowsOf(t *testing.T, args ...string) []report.Row {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.json")
	args = append([]string{"--time", "2ms", "--json", file}, args...)
	stdout, stderr, code := gaspiBench(t, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("gaspi-bench %v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	if !strings.Contains(stdout, " ratio\n") {
		t.Errorf("gaspi-bench %v printed no table:\n%s", args, stdout)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []report.Row
	for line := range strings.Lines(string(data)) {
		var r report.Row
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&r); err != nil {
			t.Fatalf("row %q: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// Goal: one side alone has the rows of that side, and no others.
func TestSide(t *testing.T) {
	for _, op := range []string{"latency", "allreduce"} {
		for _, side := range []string{report.ImplGaspi, report.ImplLimit} {
			rows := rowsOf(t, op, "--transport", "shm", "--sizes", "8,1KiB", "--side", side)
			if len(rows) < 2 || slices.ContainsFunc(rows, func(r report.Row) bool { return r.Impl != side }) {
				t.Errorf("%s of side %s has rows %+v", op, side, rows)
			}
		}
	}
}

// Goal: every operation runs on every transport, also with more ranks than
// cores, and each of its figures has a limit beside it.
func TestEveryOperation(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want []report.Row // Op, N and Bytes of the rows of gaspi
	}{
		{"latency", []string{"latency", "--sizes", "1,7,8,1KiB"},
			[]report.Row{
				{Op: "latency", N: 2, Bytes: 1}, {Op: "delivery", N: 2, Bytes: 1},
				{Op: "latency", N: 2, Bytes: 7}, {Op: "delivery", N: 2, Bytes: 7},
				{Op: "latency", N: 2, Bytes: 8}, {Op: "delivery", N: 2, Bytes: 8},
				{Op: "latency", N: 2, Bytes: 1024}, {Op: "delivery", N: 2, Bytes: 1024},
			}},
		{"latency of three ranks", []string{"latency", "-n", "3", "--sizes", "8"},
			[]report.Row{{Op: "latency", N: 3, Bytes: 8}, {Op: "delivery", N: 3, Bytes: 8}}},
		{"bandwidth", []string{"bandwidth", "--sizes", "4KiB:8KiB"},
			[]report.Row{{Op: "bandwidth", N: 2, Bytes: 4096}, {Op: "put", N: 2, Bytes: 4096}, {Op: "bandwidth", N: 2, Bytes: 8192}, {Op: "put", N: 2, Bytes: 8192}}},
		{"bandwidth of three ranks", []string{"bandwidth", "-n", "3", "--sizes", "64KiB"},
			[]report.Row{{Op: "bandwidth", N: 3, Bytes: 65536}, {Op: "put", N: 3, Bytes: 65536}}},
		{"barrier", []string{"barrier"}, []report.Row{{Op: "barrier", N: 2}}},
		{"barrier of five ranks", []string{"barrier", "-n", "5"}, []report.Row{{Op: "barrier", N: 5}}},
		{"notify-rate", []string{"notify-rate"}, []report.Row{{Op: "notify-rate", N: 2}}},
		{"notify-rate of three ranks", []string{"notify-rate", "-n", "3"}, []report.Row{{Op: "notify-rate", N: 3}}},
	} {
		for _, transport := range []string{"loopback", "shm"} {
			t.Run(transport+"/"+c.name, func(t *testing.T) {
				rows := rowsOf(t, append(c.args, "--transport", transport)...)
				checkPairs(t, rows, transport, c.want)
			})
		}
	}
}

// Over sockets, latency and bandwidth stand beside a bare connection, collective
// operations beside a ring of them, an alltoall beside a mesh, all else stands alone.
func TestOverTCP(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want []report.Row // Op, Impl and Bytes
	}{
		{"latency", []string{"latency", "--sizes", "1,8KiB"}, []report.Row{
			{Op: "latency", Impl: report.ImplGaspi, Bytes: 1}, {Op: "latency", Impl: report.ImplLimit, Bytes: 1},
			{Op: "delivery", Impl: report.ImplGaspi, Bytes: 1}, {Op: "delivery", Impl: report.ImplLimit, Bytes: 1},
			{Op: "latency", Impl: report.ImplGaspi, Bytes: 8192}, {Op: "latency", Impl: report.ImplLimit, Bytes: 8192},
			{Op: "delivery", Impl: report.ImplGaspi, Bytes: 8192}, {Op: "delivery", Impl: report.ImplLimit, Bytes: 8192},
		}},
		{"bandwidth of three ranks", []string{"bandwidth", "-n", "3", "--sizes", "64KiB"}, []report.Row{
			{Op: "bandwidth", Impl: report.ImplGaspi, Bytes: 65536}, {Op: "bandwidth", Impl: report.ImplLimit, Bytes: 65536},
		}},
		{"barrier", []string{"barrier", "-n", "3"}, []report.Row{{Op: "barrier", Impl: report.ImplGaspi}}},
		{"notify-rate", []string{"notify-rate"}, []report.Row{{Op: "notify-rate", Impl: report.ImplGaspi}}},
		{"allreduce", []string{"allreduce", "-n", "3", "--sizes", "8KiB", "--verify"}, []report.Row{
			{Op: "allreduce", Impl: report.ImplGaspi, Bytes: 8192}, {Op: "allreduce", Impl: report.ImplLimit, Bytes: 8192},
		}},
		{"alltoall", []string{"alltoall", "--sizes", "300KiB", "--verify"}, []report.Row{
			{Op: "alltoall", Impl: report.ImplGaspi, Bytes: 300 << 10}, {Op: "alltoall", Impl: report.ImplLimit, Bytes: 300 << 10},
		}},
		{"alltoall of three ranks", []string{"alltoall", "-n", "3", "--sizes", "4KiB", "--verify"}, []report.Row{
			{Op: "alltoall", Impl: report.ImplGaspi, Bytes: 4096}, {Op: "alltoall", Impl: report.ImplLimit, Bytes: 4096},
		}},
		{"reduce", []string{"reduce", "-n", "3", "--root", "1", "--sizes", "80"}, []report.Row{
			{Op: "reduce", Impl: report.ImplGaspi, Bytes: 80}, {Op: "reduce", Impl: report.ImplLimit, Bytes: 80},
		}},
		{"exchange", []string{"exchange", "-n", "3", "--sizes", "80"}, []report.Row{{Op: "exchange", Impl: report.ImplGaspi, Bytes: 80}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []report.Row
			for _, r := range rowsOf(t, append(c.args, "--transport", "tcp")...) {
				if r.Transport != "tcp" || r.P50US <= 0 {
					t.Errorf("%+v", r)
				}
				got = append(got, report.Row{Op: r.Op, Impl: r.Impl, Bytes: r.Bytes})
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

// checkPairs compares what rows are about, and makes sure of what holds for all.
func checkPairs(t *testing.T, rows []report.Row, transport string, want []report.Row) {
	t.Helper()
	if len(rows) != 2*len(want) {
		t.Fatalf("%d rows, want a pair for each of %+v:\n%+v", len(rows), want, rows)
	}
	for i, w := range want {
		for j, impl := range []string{report.ImplGaspi, report.ImplLimit} {
			r := rows[2*i+j]
			if r.Op != w.Op || r.N != w.N || r.Bytes != w.Bytes || r.Impl != impl || r.Transport != transport {
				t.Errorf("row %+v, want %s of %+v over %s", r, impl, w, transport)
			}
			if r.Iters < measure.FewBlocks || r.MinUS <= 0 || r.P50US < r.MinUS || r.P99US < r.P50US {
				t.Errorf("figures make no sense: %+v", r)
			}
			if (r.GBPerS > 0) != (w.Op == "bandwidth" || w.Op == "put") || (r.PerS > 0) != (w.Op == "notify-rate") {
				t.Errorf("rates do not suit %s: %+v", w.Op, r)
			}
			if (r.AllocsPerOp != nil) != (impl == report.ImplGaspi) {
				t.Errorf("allocations are counted for gaspi alone: %+v", r)
			}
		}
		if rows[2*i].Iters != rows[2*i+1].Iters {
			t.Errorf("the limit did not do the same work: %+v", rows[2*i:2*i+2])
		}
	}
}

// A wait that goes to sleep may allocate, and on a busy machine a peer is not
// there for long enough. So one attempt of several must be free of it.
func TestWriteNotifyDoesNotAllocate(t *testing.T) {
	const attempts = 10
	for _, transport := range []string{"loopback", "shm"} {
		t.Run(transport, func(t *testing.T) {
			var r report.Row
			for range attempts {
				r = rowsOf(t, "latency", "--sizes", "8", "--transport", transport)[0]
				if *r.AllocsPerOp == 0 {
					return
				}
			}
			t.Errorf("%d allocations per operation, also at attempt %d: %+v", *r.AllocsPerOp, attempts, r)
		})
	}
}

// Under gaspi-run the ranks use the transport that it was told, unless their own
// command line names one.
func TestTransportIsInherited(t *testing.T) {
	t.Setenv("GASPI_TRANSPORT", "tcp")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"tcp", []string{"barrier"}},
		{"shm", []string{"barrier", "--transport", "shm"}},
		{"shm", []string{"barrier", "--transport", "auto"}},
		{"loopback", []string{"barrier", "--transport", "loopback"}},
	} {
		if rows := rowsOf(t, c.args...); len(rows) == 0 || rows[0].Transport != c.want {
			t.Errorf("gaspi-bench %v: rows %+v, want transport %s", c.args, rows, c.want)
		}
	}
}

func TestBadInputIsOneSentence(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "rows.json")
	again := filepath.Dir(missing) + "/./rows.json"
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"goroutines that start", []string{"startup", "--transport", "loopback"}, exitUsage, "--transport loopback: startup measures the start of processes; use shm or tcp"},
		{"a long start", []string{"startup", "--time", "1s"}, exitUsage, "--time: a job starts once; drop the flag"},
		{"a limit of a start", []string{"startup", "--side", "limit"}, exitUsage, "--side: startup has no rows beside a limit and times each call; drop the flag"},
		{"a limit of first calls", []string{"first-call", "--side", "limit"}, exitUsage, "--side: first-call has no rows beside a limit and times each call; drop the flag"},
		{"no operation", nil, exitUsage, "no operation was given; choose one of latency, bandwidth, barrier, notify-rate, tune, predict, allreduce"},
		{"unknown operation", []string{"latencie"}, exitUsage, `unknown operation "latencie": is it latency?; see gaspi-bench --help`},
		{"no operation at all", []string{"speed"}, exitUsage, `unknown operation "speed"; choose one of latency`},
		{"nearly a command", []string{"reprot"}, exitUsage, `unknown operation "reprot": is it report?`},
		{"help on nearly an operation", []string{"help", "alreduce"}, exitUsage, `there is no help on "alreduce": is it allreduce?`},
		{"nearly a flag", []string{"latency", "--size", "8"}, exitUsage, "unknown flag: --size: is it --sizes?; see gaspi-bench --help"},
		{"two operations", []string{"latency", "barrier"}, exitUsage, `unexpected argument "barrier"`},
		{"one rank", []string{"latency", "-n", "1"}, exitUsage, "-n 1: latency needs at least 2 ranks"},
		{"too many ranks", []string{"barrier", "-n", "100000"}, exitUsage, "at most 65536 ranks"},
		{"ranks are no number", []string{"latency", "-n", "two"}, exitUsage, `-n "two": expected a whole number`},
		{"unknown transport", []string{"latency", "--transport", "pigeon"}, exitUsage, `--transport "pigeon": expected auto, shm, tcp, rdma or loopback`},
		{"unknown side", []string{"latency", "--side", "left"}, exitUsage, `--side "left": expected gaspi or limit`},
		{"unknown binding", []string{"latency", "--bind", "rope"}, exitUsage, `--bind "rope": expected auto, core or none`},
		{"bound goroutines", []string{"latency", "--transport", "loopback", "--bind", "core"}, exitUsage, "goroutines cannot be bound"},
		{"no time", []string{"latency", "--time", "0s"}, exitUsage, "--time 0s: expected more than 0"},
		{"time is none", []string{"latency", "--time", "soon"}, exitUsage, `--time "soon": expected a duration`},
		{"size is no number", []string{"latency", "--sizes", "8,many"}, exitUsage, `--sizes: "many" is no size`},
		{"size zero", []string{"bandwidth", "--sizes", "0"}, exitUsage, `--sizes: "0" is out of range`},
		{"size too large", []string{"bandwidth", "--sizes", "2GiB"}, exitUsage, `--sizes: "2GiB" is out of range; sizes go from 1 byte to 1GiB`},
		{"sizes for a barrier", []string{"barrier", "--sizes", "8"}, exitUsage, "--sizes: barrier moves no data"},
		{"nameless file", []string{"barrier", "--json", ""}, exitUsage, "--json needs the name of a file"},
		{"one file for both", []string{"latency", "--json", missing, "--plot", again}, exitUsage, "--json and --plot both name " + again + "; give two files"},
		{"one file for both of a network", []string{"dnn", "--json", missing, "--plot", again}, exitUsage, "--json and --plot both name " + again + "; give two files"},
		{"rows and tables in one file", []string{"performance", "--rows", "x", "--out", "x"}, exitUsage, "--rows and --out both name x; give two files"},
		{"tables over the rows that are the default", []string{"performance", "--out", "performance.json"}, exitUsage, "--rows and --out both name performance.json; give two files"},
		{"unknown network", []string{"barrier", "--emulate", "fast"}, exitUsage, `--emulate: emulated network: "fast" has no value`},
		{"unknown flag", []string{"barrier", "--fast"}, exitUsage, "unknown flag: --fast"},
		{"unwritable file over shm", []string{"barrier", "--json", missing}, exitFailed, "no such file or directory; name a file that can be written"},
		{"two unwritable files", []string{"latency", "--json", missing, "--plot", missing + ".svg"}, exitFailed, "--json " + missing + ": no such file or directory; name a file that can be written"},
		{"unwritable file over loopback", []string{"barrier", "--transport", "loopback", "--json", missing}, exitFailed, "name a file that can be written"},
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

func TestHelpNamesEverything(t *testing.T) {
	stdout, stderr, code := gaspiBench(t, "--help")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, errors %q", code, stderr)
	}
	for _, op := range operations() {
		if !strings.Contains(stdout, "\n  "+op.Name+": ") || !strings.Contains(op.About, "Limit: ") {
			t.Errorf("the help does not say what %s and its limit are:\n%s", op.Name, stdout)
		}
	}
}

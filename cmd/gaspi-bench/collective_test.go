package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

func operationOf(t *testing.T, name string) schedule.Operation {
	t.Helper()
	for _, op := range schedule.Operations() {
		if op.String() == name {
			return op
		}
	}
	t.Fatalf("no operation %q", name)
	return 0
}

// Goal: every operation runs with every algorithm, on every transport, and each
// result is right, also that of the limit. With 4 ranks that share memory nothing
// keeps an algorithm from being used, but for those that need an option, so that all
// of them have rows.
func TestEveryCollective(t *testing.T) {
	for _, op := range append(collective.Operations(), collective.Barrier()) {
		for _, n := range []int{1, 2, 3, 4} {
			if n < op.MinRanks {
				continue
			}
			transport := []string{"loopback", "shm"}[n/2%2]
			t.Run(fmt.Sprintf("%s/%d", op.Name, n), func(t *testing.T) {
				what := operationOf(t, op.Name)
				args := []string{op.Name, "--time", "10us", "-n", strconv.Itoa(n), "--transport", transport, "--algorithm", "all"}
				if what != schedule.Barrier {
					args = append(args, "--verify", "--sizes", "520")
				}
				rows := rowsOf(t, args...)
				checkCollective(t, rows, op.Name, transport, n)
				if n < 4 {
					return
				}
				var want, got []string
				for _, a := range algorithms.For(what) {
					if !a.Coded {
						want = append(want, a.Name)
					}
				}
				for _, r := range rows {
					if r.Impl == report.ImplGaspi {
						name, _, _ := strings.Cut(r.Algorithm, " ")
						got = append(got, name)
					}
				}
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("algorithms with a row (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// checkCollective makes sure of what holds for all rows of collective operations.
func checkCollective(t *testing.T, rows []report.Row, op, transport string, n int) {
	t.Helper()
	if len(rows) == 0 || len(rows)%2 != 0 {
		t.Fatalf("%d rows, want pairs: %+v", len(rows), rows)
	}
	for i, r := range rows {
		impl := []string{report.ImplGaspi, report.ImplLimit}[i%2]
		if r.Op != op || r.N != n || r.Impl != impl || r.Transport != transport || (r.Algorithm != "") != (impl == report.ImplGaspi) {
			t.Errorf("row %+v, want %s of %s among %d over %s", r, impl, op, n, transport)
		}
		if r.Iters < measure.FewBlocks || r.MinUS <= 0 || r.P50US < r.MinUS || r.P99US < r.P50US {
			t.Errorf("figures make no sense: %+v", r)
		}
		if r.Bytes != rows[i/2*2].Bytes || r.Iters != rows[i/2*2].Iters {
			t.Errorf("the limit did not do the same work: %+v", rows[i/2*2:i/2*2+2])
		}
	}
}

// Goal: each flag changes what it is about, and results stay right.
func TestFlagsOfCollectives(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		bytes uint64
		algo  string // prefix
	}{
		{"forced", []string{"allreduce", "--algorithm", "ring", "--sizes", "4KiB"}, 4096, "ring"},
		{"segments", []string{"allreduce", "--algorithm", "ring", "--segments", "3", "--sizes", "4KiB"}, 4096, "ringx3"},
		{"segment size", []string{"allreduce", "--algorithm", "ring", "--segment-size", "1KiB", "--dtype", "float32", "--sizes", "4KiB"}, 4096, "ring/256"},
		{"segments of the library's choice", []string{"allreduce", "--segments", "2", "--sizes", "4KiB"}, 4096, ""},
		{"type and operation", []string{"allreduce", "--dtype", "int16", "--op", "xor", "--sizes", "510"}, 510, ""},
		{"half floats", []string{"reducescatter", "--dtype", "bfloat16", "--op", "prod", "--sizes", "512"}, 512, ""},
		{"rounded to elements", []string{"scan", "--dtype", "complex128", "--sizes", "39"}, 32, ""},
		{"at least one element", []string{"scan", "--sizes", "1"}, 8, ""},
		{"rounded to blocks", []string{"gather", "-n", "3", "--dtype", "float32", "--sizes", "100"}, 96, ""},
		{"bytes of a block", []string{"alltoall", "-n", "3", "--dtype", "uint8", "--sizes", "100"}, 100, ""},
		{"root", []string{"broadcast", "-n", "3", "--root", "2", "--sizes", "4KiB"}, 4096, ""},
		{"threshold of a broadcast", []string{"broadcast", "--threshold", "0.3", "--sizes", "4KiB"}, 4096, ""},
		{"threshold of a reduce", []string{"reduce", "-n", "3", "--threshold", "0.3", "--root", "1", "--sizes", "4KiB"}, 4096, ""},
		{"some processes", []string{"reduce", "-n", "4", "--processes", "0.5", "--sizes", "4KiB"}, 4096, ""},
		{"some processes of a plan", []string{"reduce", "-n", "4", "--processes", "0.5", "--plan", "--sizes", "4KiB"}, 4096, ""},
		{"plain", []string{"allreduce", "--plain", "--sizes", "100KiB"}, 100 << 10, ""},
		{"plain and short", []string{"allreduce", "-n", "3", "--plain", "--sizes", "64"}, 64, ""},
		{"plain for a root", []string{"reduce", "-n", "4", "--plain", "--root", "3", "--processes", "0.5", "--sizes", "40KiB"}, 40 << 10, ""},
		{"plain blocks", []string{"alltoall", "-n", "3", "--plain", "--sizes", "4KiB"}, 4096, ""},
		{"slow processors", []string{"allreduce", "-n", "3", "--fold-rate", "64MiB", "--sizes", "4KiB"}, 4096, ""},
		{"slow processors of a root", []string{"reduce", "--fold-rate", "64MiB", "--op", "max", "--sizes", "4KiB"}, 4096, ""},
		{"slow processors on blocks", []string{"reducescatter", "--fold-rate", "64MiB", "--dtype", "float32", "--sizes", "4KiB"}, 4096, ""},
		{"plan", []string{"allgather", "--plan", "--sizes", "4KiB"}, 4096, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := rowsOf(t, append(c.args, "--verify")...)
			if len(rows) != 2 || rows[0].Bytes != c.bytes || !strings.HasPrefix(rows[0].Algorithm, c.algo) {
				t.Errorf("rows %+v, want a pair of %d bytes with algorithm %s", rows, c.bytes, c.algo)
			}
		})
	}
	t.Run("no-op", func(t *testing.T) {
		for _, op := range []string{"allreduce", "reduce"} {
			if rows := rowsOf(t, op, "--no-op", "--sizes", "4KiB"); len(rows) != 2 {
				t.Errorf("rows %+v, want a pair", rows)
			}
		}
	})
}

// See TestWriteNotifyDoesNotAllocate for why one attempt of several suffices.
func TestCollectivesDoNotAllocate(t *testing.T) {
	const attempts = 10
	for _, args := range [][]string{
		{"allreduce", "--sizes", "8"},
		{"allreduce", "--sizes", "8", "--plan"},
		{"broadcast", "--sizes", "4KiB", "--algorithm", "binomial"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var r report.Row
			for range attempts {
				if r = rowsOf(t, args...)[0]; *r.AllocsPerOp == 0 {
					return
				}
			}
			t.Errorf("%d allocations per operation, also at attempt %d: %+v", *r.AllocsPerOp, attempts, r)
		})
	}
}

func TestExplain(t *testing.T) {
	stdout, stderr, code := gaspiBench(t, "allreduce", "--explain", "--sizes", "8,1MiB")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"allreduce of 8, predicted:", "allreduce of 1MiB, predicted:", "\n  ring ", "\n  direct "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing in:\n%s", want, stdout)
		}
	}
	if got := strings.Count(stdout, "  chosen\n"); got != 2 {
		t.Errorf("%d candidates are chosen, want one for each size:\n%s", got, stdout)
	}
}

func TestBadCollectiveInputIsOneSentence(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown algorithm", []string{"allreduce", "--algorithm", "rign"}, `--algorithm: allreduce has no algorithm "rign"; it has `},
		{"algorithm of a latency", []string{"latency", "--algorithm", "ring"}, "--algorithm: latency is no collective operation; drop the flag"},
		{"flag for the runtime's barrier", []string{"barrier", "--plan"}, "--plan: barrier is the runtime's own; add --algorithm for that of package collectives"},
		{"type of a barrier", []string{"barrier", "--algorithm", "auto", "--dtype", "int8"}, "--dtype: barrier knows no such thing"},
		{"unknown type", []string{"allreduce", "--dtype", "double"}, `--dtype "double": expected one of float64, float32`},
		{"unknown operation", []string{"allreduce", "--op", "mean"}, `--op "mean": expected one of sum, prod, min, max, and, or, xor`},
		{"operation that a type lacks", []string{"allreduce", "--op", "xor"}, "--op xor: it is not defined for float64"},
		{"operation of a broadcast", []string{"broadcast", "--op", "sum"}, "--op: broadcast knows no such thing; drop the flag"},
		{"root of an allreduce", []string{"allreduce", "--root", "1"}, "--root: allreduce knows no such thing"},
		{"root out of range", []string{"reduce", "--root", "2"}, "--root 2: there are ranks 0 to 1"},
		{"threshold of an allreduce", []string{"allreduce", "--threshold", "0.5"}, "--threshold: allreduce knows no such thing"},
		{"threshold zero", []string{"broadcast", "--threshold", "0"}, "--threshold 0: expected a number above 0, and at most 1"},
		{"threshold too large", []string{"reduce", "--threshold", "1.5"}, "--threshold 1.5: expected a number above 0"},
		{"processes of a broadcast", []string{"broadcast", "--processes", "0.5"}, "--processes: broadcast knows no such thing"},
		{"processes too many", []string{"reduce", "--processes", "2"}, "--processes 2: expected a number above 0"},
		{"processes are no number", []string{"reduce", "--processes", "half"}, `--processes "half": expected a number`},
		{"no segments", []string{"allreduce", "--segments", "0"}, "--segments 0: expected at least 1"},
		{"segments are no number", []string{"allreduce", "--segments", "few"}, `--segments "few": expected a whole number`},
		{"segment size", []string{"allreduce", "--segment-size", "big"}, `--segment-size: "big" is no size`},
		{"no-op of a scan", []string{"scan", "--no-op"}, "--no-op: scan knows no such thing"},
		{"no-op has no result", []string{"allreduce", "--no-op", "--verify"}, "--verify: --no-op has no result to check"},
		{"no-op is an operation", []string{"allreduce", "--no-op", "--op", "max"}, "--op max: --no-op is an operation too"},
		{"no-op takes no time", []string{"allreduce", "--no-op", "--fold-rate", "1MiB"}, "--fold-rate: --no-op combines nothing"},
		{"slow processors of a broadcast", []string{"broadcast", "--fold-rate", "1MiB"}, "--fold-rate: broadcast knows no such thing"},
		{"processors that do nothing", []string{"allreduce", "--fold-rate", "0"}, `--fold-rate: "0" is out of range`},
		{"explain has no rows", []string{"allreduce", "--explain", "--json", os.DevNull}, "--json: --explain measures nothing"},
		{"verify a latency", []string{"latency", "--verify"}, "--verify: latency is no collective operation"},
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

package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// everything is all operations, and some are those of each kind.
func everything() []string {
	return []string{
		"allreduce", "reduce", "scan", "exscan", "broadcast", "allgather", "gather", "scatter", "alltoall",
		"reducescatter", "barrier", "latency", "delivery", "bandwidth", "put", FirstBarrier, Init, Started,
	}
}

func some() []string { return []string{"allreduce", "alltoall", "latency"} }

// each is a point of each operation in each way, with counts that divide nothing
// evenly.
func each(name string, operations []string) []Point {
	var points []Point
	for _, op := range operations {
		for _, way := range Ways(name, op) {
			points = append(points, Point{Operation: op, Count: 1003, Way: way})
			if op == "allreduce" && MPI(name) { // in segments of unequal length
				points = append(points, Point{Operation: op, Count: 1003, Way: way + "-x4"})
			}
		}
	}
	return points
}

// open compiles for an installed library, in a cache of its own.
func open(t *testing.T, name string) *Peer {
	t.Helper()
	return openIn(t, name, t.TempDir())
}

// openIn is open with a cache, in which the program may be.
func openIn(t *testing.T, name, cache string) *Peer {
	t.Helper()
	for _, l := range libraries() {
		if l.name == name {
			testenv.Need(t, l.compiler, l.launcher)
		}
	}
	p, err := Open(t.Context(), name, cache)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Goal: every operation gives right results and figures, with each library, and
// some do over TCP and with more ranks than cores, where MPI is slow.
func TestLibraries(t *testing.T) {
	cache := t.TempDir()
	for _, c := range []struct {
		name string
		ops  []string
		job  Job
	}{
		{"openmpi", everything(), Job{Ranks: 2, DType: "float64", Op: "sum", Root: 1, Most: 127}},
		{"openmpi", some(), Job{Ranks: 3, DType: "int32", Op: "max", Root: 2, Most: 127, Verify: true, Yield: true}},
		{"openmpi", some(), Job{Ranks: 2, DType: "complex64", Op: "prod", Most: 127, TCP: true}},
		{"openmpi", []string{"alltoall"}, Job{Ranks: 3, DType: "float32", Op: "sum", Most: 127, TCP: true, Bound: true, Yield: true}},
		// MPICH 4.0.2 crashes in a reduction in place whose root is not rank 0.
		{"mpich", everything(), Job{Ranks: 2, DType: "float32", Op: "sum", Most: 127, Verify: true}},
		{"mpich", some(), Job{Ranks: 2, DType: "uint8", Op: "xor", Most: 127, TCP: true}},
	} {
		transport := map[bool]string{false: "shm", true: "tcp"}[c.job.TCP]
		t.Run(c.name+"/"+transport+"/"+c.job.DType, func(t *testing.T) {
			j := c.job
			j.Points = each(c.name, c.ops)
			wantResults(t, openIn(t, c.name, cache), j)
		})
	}
}

// wantResults runs a job of which every point gives figures.
func wantResults(t *testing.T, p *Peer, j Job) {
	t.Helper()
	j.Time, j.Limit = time.Microsecond, generous
	next := 0
	err := p.Run(t.Context(), j, func(int) {}, func(r PointResult) {
		blocks := 15
		if op := j.Points[next].Operation; op == Init || op == FirstBarrier || op == Started {
			blocks = 1 // a job starts once
		}
		if r.Point != next || r.OverLimit || r.Failed != "" || r.Operations < 1 || len(r.Blocks) < blocks || r.Blocks[0] <= 0 {
			t.Errorf("%v: result %+v", j.Points[next], r)
		}
		next++
	})
	if err != nil || next != len(j.Points) {
		t.Errorf("%d of %d points: %v", next, len(j.Points), err)
	}
}

// Goal: a wrong result is noticed. Numbers too large for their type make one.
func TestWrongResultIsNoticed(t *testing.T) {
	p := open(t, "openmpi")
	j := Job{Ranks: 2, DType: "int8", Op: "sum", Most: 127, Time: time.Microsecond, Limit: generous, Points: []Point{{"allreduce", 1000, "separate"}}}
	var got PointResult
	if err := p.Run(t.Context(), j, func(int) {}, func(r PointResult) { got = r }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Failed, "allreduce of int8: ") {
		t.Errorf("result %+v, want a failure that names the operation", got)
	}
}

// Goal: algorithms that a library is said to have can be forced: one of each, and
// all of them in a long test.
func TestAlgorithms(t *testing.T) {
	for name, want := range map[string]string{"openmpi": "ring", "mpich": "recursive_doubling"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, name)
			if name == "openmpi" {
				testenv.Need(t, "ompi_info")
			}
			names, err := p.Algorithms(t.Context(), "allreduce")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+want+" ") {
				t.Errorf("algorithms %v, want %s among them", names, want)
			}
			if os.Getenv("GASPI_TEST_LONG") == "" {
				names = []string{want}
			}
			for _, algorithm := range names {
				j := Job{Ranks: 2, DType: "float64", Op: "sum", Most: 127, Algorithm: algorithm, Time: time.Microsecond, Limit: generous, Points: []Point{{"allreduce", 77, "in-place"}}}
				var got PointResult
				if err := p.Run(t.Context(), j, func(int) {}, func(r PointResult) { got = r }); err != nil || got.Failed != "" {
					t.Errorf("%s: %v, %+v", algorithm, err, got)
				}
			}
		})
	}
}

// Goal: sockets of an isolated command have the congestion control that was asked
// for, and those of all others keep theirs.
func TestIsolated(t *testing.T) {
	testenv.Need(t, "ip", "cat")
	if err := CanIsolate(); err != nil {
		testenv.Lack(t, err.Error())
	}
	before := SystemCongestion()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t.Context(), cat, launch{args: []string{"/proc/sys/net/ipv4/tcp_congestion_control"}}, "reno")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if d := cmp.Diff("reno\n", string(out)); d != "" {
		t.Errorf("congestion control inside (-want +got):\n%s", d)
	}
	if after := SystemCongestion(); after != before {
		t.Errorf("congestion control of all others is now %s, was %s", after, before)
	}
}

// Goal: every operation gives figures with the library for C of this project.
func TestLibraryForC(t *testing.T) {
	testenv.NeedStep(t, "GASPI_TEST_CAPI", "capi")
	testenv.Need(t, "cc", "make")
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	for _, args := range [][]string{
		{"make", "-C", "capi", "shared", "CC=cc", "BUILD=" + filepath.Join(prefix, "lib")},
		{"go", "build", "-o", filepath.Join(prefix, "bin", "gaspi-run"), "./cmd/gaspi-run"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if err := os.Symlink(filepath.Join(root, "capi", "include"), filepath.Join(prefix, "include")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(prefix, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	p, err := Open(t.Context(), capiName, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tcp := range []bool{false, true} {
		for _, ranks := range []int{2, 3} {
			wantResults(t, p, Job{Ranks: ranks, TCP: tcp, Points: each(capiName, []string{"barrier", "latency", "delivery", "bandwidth"})})
		}
	}
}

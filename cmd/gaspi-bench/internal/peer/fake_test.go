package peer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A fake is an MPI library made of shell scripts, the only one in PATH.
type fake struct{ dir string }

// newFake makes a library whose launcher runs a script. In it, begin and end print
// the lines of a point, and points are the arguments that look like some.
func newFake(t *testing.T, script string) fake {
	t.Helper()
	f := fake{t.TempDir()}
	f.write(t, "mpicc.openmpi", `[ "$1" = --version ] && { echo fakecc 1.2; exit; }
echo "$@" >>"`+f.dir+`/compiled"
while [ "$1" != -o ]; do shift; done
echo made >"$2"`)
	f.write(t, "mpirun.openmpi", `[ "$1" = --version ] && { echo "mpirun (Open MPI) 9.8.7"; exit; }
i=0
begin() { echo "start $i"; }
end() { echo "times $i 2 100 300"; i=$((i+1)); }
points=
for word; do case $word in *:*:*) points="$points$word ";; esac; done
echo "$points." >>"`+f.dir+`/launched"
`+script)
	t.Setenv("PATH", f.dir)
	return f
}

func (f fake) write(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// lines are those that scripts wrote to a file.
func (f fake) lines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func (f fake) open(t *testing.T) *Peer {
	t.Helper()
	p, err := Open(t.Context(), "openmpi", filepath.Join(f.dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// job has points of those operations.
func job(limit time.Duration, operations ...string) Job {
	j := Job{Ranks: 2, DType: "float64", Op: "sum", Most: 1, Time: time.Millisecond, Limit: limit}
	for _, op := range operations {
		j.Points = append(j.Points, Point{Operation: op, Count: 8})
	}
	return j
}

// every prints all points, in which $point may do otherwise.
const every = `for point in $points; do begin; case $point in %s esac; end; done; echo done`

func steps(otherwise string) string { return strings.Replace(every, "%s", otherwise, 1) }

const generous = time.Minute

func TestRun(t *testing.T) {
	ok := func(i int) PointResult {
		return PointResult{Point: i, Operations: 2, Blocks: []time.Duration{100, 300}}
	}
	over := func(i int) PointResult { return PointResult{Point: i, OverLimit: true} }
	failed := func(i int, why string) PointResult { return PointResult{Point: i, Failed: why} }
	const short = 3 * time.Second // long enough for a script on a busy machine
	for _, c := range []struct {
		name, script string
		job          Job
		want         []PointResult
		launched     []string
	}{
		{"all points", steps(""), job(generous, "a", "b"), []PointResult{ok(0), ok(1)}, []string{"a:8: b:8: ."}},
		{"a point that hangs, and one after it", steps("slow*) exec /bin/sleep 60;;"), job(short, "a", "slow", "c"),
			[]PointResult{ok(0), over(1), ok(2)}, []string{"a:8: slow:8: c:8: .", "c:8: ."}},
		{"a point with a wrong result, and one after it", steps(`b*) echo "mpibench: rank 1: it is wrong" >&2; echo noise >&2; exit 1;;`), job(generous, "a", "b", "c"),
			[]PointResult{ok(0), failed(1, "exit status 1: rank 1: it is wrong"), ok(2)}, []string{"a:8: b:8: c:8: .", "c:8: ."}},
		{"all points fail", "begin; echo crash >&2; exit 1", job(generous, "a", "b"),
			[]PointResult{failed(0, "exit status 1: crash"), failed(1, "exit status 1: crash")}, []string{"a:8: b:8: .", "b:8: ."}},
		{"an end between points", "begin; end", job(generous, "a", "b"), []PointResult{ok(0), failed(1, "exit status 0: ")}, []string{"a:8: b:8: ."}},
		{"noise and a bad end after all is done", steps("") + "\necho bye; exit 3", job(generous, "a"), []PointResult{ok(0)}, []string{"a:8: ."}},
		{"hangs when all is done", steps("") + "\nexec /bin/sleep 60", job(generous, "a"), []PointResult{ok(0)}, []string{"a:8: ."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.script)
			var got []PointResult
			began := map[int]bool{}
			err := f.open(t).Run(t.Context(), c.job, func(i int) { began[i] = true }, func(r PointResult) { got = append(got, r) })
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
			for _, r := range got {
				if r.Failed == "" && !began[r.Point] {
					t.Errorf("nobody was told that point %d began", r.Point)
				}
			}
			if d := cmp.Diff(c.launched, f.lines(t, "launched")); d != "" {
				t.Errorf("launched for (-want +got):\n%s", d)
			}
		})
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"does not start", "echo no slots >&2; exit 9", "Open MPI: it ended before its first point began: exit status 9: no slots"},
		{"does nothing", "", "it ended before its first point began: exit status 0"},
		{"garbage", "begin; echo times 0 many", `"many" in a line of the benchmark is no number`},
		{"another point", "i=1; begin", "it went on with point 1, want 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.script)
			err := f.open(t).Run(t.Context(), job(generous, "a", "b"), func(int) {}, func(PointResult) {})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Goal: who gives up gets back control, and the launcher is gone then.
func TestRunIsCancelled(t *testing.T) {
	f := newFake(t, `echo $$ >"`+"$0"+`.pid"; begin; exec /bin/sleep 60`)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.open(t).Run(ctx, job(generous, "a"), func(int) { cancel() }, func(PointResult) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	pid := f.lines(t, "mpirun.openmpi.pid")[0]
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Errorf("process %s is still there", pid)
	}
}

// Goal: a program is compiled once, and again when anything that it is made of
// changes.
func TestOpenCompilesOnce(t *testing.T) {
	f := newFake(t, "")
	first := f.open(t)
	if first.Version != "9.8.7" || first.Name != "openmpi" {
		t.Errorf("%s %s, want openmpi 9.8.7", first.Name, first.Version)
	}
	if again := f.open(t); again.program != first.program || len(f.lines(t, "compiled")) != 1 {
		t.Errorf("%s, then %s, compiled %q", first.program, again.program, f.lines(t, "compiled"))
	}
	f.write(t, "mpirun.openmpi", "echo mpirun 9.9")
	if newer := f.open(t); newer.program == first.program || newer.Version != "9.9" {
		t.Errorf("a newer library, %s, has the program of the old one", newer.Version)
	}
	left, err := os.ReadDir(filepath.Join(f.dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 {
		t.Errorf("the cache holds %v, want two programs", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name, peer string
		change     func(f fake)
		want       string
	}{
		{"unknown", "lam", func(fake) {}, `there is no peer "lam"; choose from openmpi, mpich`},
		{"not installed", "mpich", func(fake) {}, "MPICH is not installed: no mpicc.mpich in PATH; on Debian, apt-get install mpich libmpich-dev gcc"},
		{"no launcher", "openmpi", func(f fake) { os.Remove(filepath.Join(f.dir, "mpirun.openmpi")) },
			"Open MPI is not installed: no mpirun.openmpi in PATH; on Debian, apt-get install openmpi-bin libopenmpi-dev gcc"},
		{"no version", "openmpi", func(f fake) { f.write(t, "mpirun.openmpi", "echo hello") }, "mpirun.openmpi --version tells no version"},
		{"launcher fails", "openmpi", func(f fake) { f.write(t, "mpirun.openmpi", "echo broken >&2; exit 1") }, "asking mpirun.openmpi for its version: exit status 1: broken"},
		{"compiler fails", "openmpi", func(f fake) {
			f.write(t, "mpicc.openmpi", `[ "$1" = --version ] && exit; echo "mpi.h: not there" >&2; exit 1`)
		}, "compiling the benchmark for Open MPI: mpicc.openmpi: exit status 1: mpi.h: not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, "")
			c.change(f)
			cache := filepath.Join(f.dir, "cache")
			_, err := Open(t.Context(), c.peer, cache)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if left, _ := os.ReadDir(cache); len(left) != 0 {
				t.Errorf("%v is left behind", left)
			}
		})
	}
}

func TestUnknownAlgorithm(t *testing.T) {
	f := newFake(t, "")
	f.write(t, "ompi_info", "echo mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring")
	p := f.open(t)
	names, err := p.Algorithms(t.Context(), "allreduce")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"ring"}, names); d != "" {
		t.Errorf("algorithms (-want +got):\n%s", d)
	}
	if names, err := p.Algorithms(t.Context(), "latency"); err != nil || names != nil {
		t.Errorf("latency: %v, %v", names, err)
	}
	j := job(generous, "allreduce")
	j.Algorithm = "magic"
	const want = `Open MPI has no algorithm "magic" for allreduce; choose from ring`
	if err := p.Run(t.Context(), j, func(int) {}, func(PointResult) {}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

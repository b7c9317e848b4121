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

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer/peertest"
)

func openFake(t *testing.T, f peertest.Fake) *Peer {
	t.Helper()
	p, err := Open(t.Context(), "openmpi", filepath.Join(f.Dir, "cache"))
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

// steps measures all points, in which $point may do otherwise.
func steps(otherwise string) string { return peertest.Steps("", otherwise) }

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
		{"processor time", "begin; echo used $i 7000; end; begin; end; echo done", job(generous, "a", "b"),
			[]PointResult{{Point: 0, Operations: 2, Blocks: []time.Duration{100, 300}, Processors: 7000}, ok(1)}, []string{"a:8: b:8: ."}},
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
			f := peertest.New(t, c.script)
			var got []PointResult
			began := map[int]bool{}
			err := openFake(t, f).Run(t.Context(), c.job, func(i int) { began[i] = true }, func(r PointResult) { got = append(got, r) })
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
			if d := cmp.Diff(c.launched, f.Lines(t, "launched")); d != "" {
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
			f := peertest.New(t, c.script)
			err := openFake(t, f).Run(t.Context(), job(generous, "a", "b"), func(int) {}, func(PointResult) {})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Goal: who gives up gets back control, and the launcher is gone then.
func TestRunIsCancelled(t *testing.T) {
	f := peertest.New(t, `echo $$ >"`+"$0"+`.pid"; begin; exec /bin/sleep 60`)
	ctx, cancel := context.WithCancel(t.Context())
	err := openFake(t, f).Run(ctx, job(generous, "a"), func(int) { cancel() }, func(PointResult) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	pid := f.Lines(t, "mpirun.openmpi.pid")[0]
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Errorf("process %s is still there", pid)
	}
}

// Goal: a program that ends together with the context has not failed. Of the two ends, any may be seen first,
// so it is tried often.
func TestRunIsCancelledAsTheProgramEnds(t *testing.T) {
	p := openFake(t, peertest.New(t, "begin; exit 1"))
	for try := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		err := p.Run(ctx, job(generous, "a"), func(int) { cancel() }, func(r PointResult) { t.Errorf("try %d: a point has result %+v", try, r) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("try %d: error %v, want that of the context", try, err)
		}
	}
}

// Goal: a program is compiled once, and again when anything that it is made of
// changes.
func TestOpenCompilesOnce(t *testing.T) {
	f := peertest.New(t, "")
	first := openFake(t, f)
	if first.Version != "9.8.7" || first.Name != "openmpi" {
		t.Errorf("%s %s, want openmpi 9.8.7", first.Name, first.Version)
	}
	if again := openFake(t, f); again.program != first.program || len(f.Lines(t, "compiled")) != 1 {
		t.Errorf("%s, then %s, compiled %q", first.program, again.program, f.Lines(t, "compiled"))
	}
	f.Write(t, "mpirun.openmpi", "echo mpirun 9.9")
	if newer := openFake(t, f); newer.program == first.program || newer.Version != "9.9" {
		t.Errorf("a newer library, %s, has the program of the old one", newer.Version)
	}
	left, err := os.ReadDir(filepath.Join(f.Dir, "cache"))
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
		change     func(f peertest.Fake)
		want       string
	}{
		{"unknown", "lam", func(peertest.Fake) {}, `peer "lam": expected a list of openmpi, mpich`},
		{"no folder", "openmpi=", func(peertest.Fake) {}, `peer "openmpi=": expected the folder of an installation behind the =`},
		{"folder of no library of MPI", "gaspi-c=/opt", func(peertest.Fake) {}, "expected gaspi-c alone; only a library of MPI is named with its folder"},
		{"empty folder", "openmpi=/proc/self", func(peertest.Fake) {},
			"Open MPI is not installed in /proc/self: no program bin/mpicc there; name the folder that holds bin, include and lib"},
		{"not installed", "mpich", func(peertest.Fake) {}, "MPICH is not installed: no mpicc.mpich in PATH; on Debian, apt-get install mpich libmpich-dev gcc"},
		{"no launcher", "openmpi", func(f peertest.Fake) { os.Remove(filepath.Join(f.Dir, "mpirun.openmpi")) },
			"Open MPI is not installed: no mpirun.openmpi in PATH; on Debian, apt-get install openmpi-bin libopenmpi-dev gcc"},
		{"no version", "openmpi", func(f peertest.Fake) { f.Write(t, "mpirun.openmpi", "echo hello") }, "mpirun.openmpi --version tells no version"},
		{"launcher fails", "openmpi", func(f peertest.Fake) { f.Write(t, "mpirun.openmpi", "echo broken >&2; exit 1") }, "asking mpirun.openmpi for its version: exit status 1: broken"},
		{"compiler fails", "openmpi", func(f peertest.Fake) {
			f.Write(t, "mpicc.openmpi", `[ "$1" = --version ] && exit; echo "mpi.h: not there" >&2; exit 1`)
		}, "compiling the benchmark for Open MPI: mpicc.openmpi: exit status 1: mpi.h: not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := peertest.New(t, "")
			c.change(f)
			cache := filepath.Join(f.Dir, "cache")
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

// TestOpenElsewhere takes a library from a folder of its own, with nothing of it in PATH.
func TestOpenElsewhere(t *testing.T) {
	f := peertest.New(t, `echo "$LD_LIBRARY_PATH" >"`+"$0"+`.path"; `+steps(""))
	if err := os.Mkdir(filepath.Join(f.Dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"mpicc.openmpi": "mpicc", "mpirun.openmpi": "mpirun"} {
		if err := os.Rename(filepath.Join(f.Dir, from), filepath.Join(f.Dir, "bin", to)); err != nil {
			t.Fatal(err)
		}
	}
	f.Write(t, "bin/ompi_info", "echo mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring")
	t.Setenv("LD_LIBRARY_PATH", "/more")
	name := "openmpi=" + f.Dir
	p, err := Open(t.Context(), name, filepath.Join(f.Dir, "cache"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != name || p.Version != "9.8.7" || !MPI(name) || !OverMessages(name) || len(Ways(name, "allreduce")) != 2 {
		t.Errorf("%+v; MPI %v, ways %v", p, MPI(name), Ways(name, "allreduce"))
	}
	j := job(generous, "allreduce")
	j.Algorithm = "ring"
	results := 0
	if err := p.Run(t.Context(), j, func(int) {}, func(PointResult) { results++ }); err != nil || results != 1 {
		t.Errorf("%d results, %v", results, err)
	}
	if got := f.Lines(t, "bin/mpirun.path"); len(got) != 1 || got[0] != filepath.Join(f.Dir, "lib")+":/more" {
		t.Errorf("LD_LIBRARY_PATH is %q, want %s/lib:/more", got, f.Dir)
	}
	_, err = Open(t.Context(), "mpich="+f.Dir, t.TempDir())
	if want := f.Dir + `/bin/mpirun --version prints "mpirun (Open MPI) 9.8.7"; expected that of MPICH`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestUnknownAlgorithm(t *testing.T) {
	f := peertest.New(t, "")
	f.Write(t, "ompi_info", "echo mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring")
	p := openFake(t, f)
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

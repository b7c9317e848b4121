//go:build rdma

package verbs

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/vm"
)

const (
	module   = "github.com/gaspi-go/gaspi-go/"
	provider = "verbs;ofi_rxm"
)

// jobLimit is what no guest here comes near, unless something hangs or others keep the
// machine busy: undisturbed, each ends within some minutes.
const jobLimit = 20 * time.Minute

// gate skips these tests unless they were asked for.
func gate(t *testing.T) {
	t.Helper()
	testenv.NeedStep(t, "GASPI_TEST_VM", "verbs")
}

// inGuest has a guest run a script with programs and returns what it printed, which
// the log shows while it comes.
func inGuest(t *testing.T, script string, files map[string]string) string {
	t.Helper()
	gate(t)
	machine := vm.New(t)
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	defer cancel()
	var printed strings.Builder
	status, err := machine.Run(ctx, vm.Job{Script: script, Files: files, Output: io.MultiWriter(t.Output(), &printed)})
	if err != nil {
		t.Fatal(err)
	}
	if status != 0 {
		t.Fatalf("exit status %d, want 0", status)
	}
	return printed.String()
}

// command runs the Go command with the tag that puts libfabric into programs.
func command(t *testing.T, args ...string) {
	t.Helper()
	gate(t)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// programs builds programs of the module and returns where they are, by name.
func programs(t *testing.T, packages ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for _, p := range packages {
		name := path.Base(p)
		files[name] = filepath.Join(dir, name)
		command(t, "build", "-buildvcs=false", "-tags", "rdma", "-o", files[name], module+p)
	}
	return files
}

// TestTransport runs the tests of the transport, its contract among them, where
// libfabric finds verbs. The contract on memory of the heap takes as long as that on memory files,
// and differs from it in what is registered: it is run if GASPI_TEST_LONG is 1, as it is over
// sockets in any case.
func TestTransport(t *testing.T) {
	test := filepath.Join(t.TempDir(), "transport.test")
	command(t, "test", "-c", "-tags", "rdma", "-o", test, module+"internal/transport/rdma")
	skipped := "InMemory|Jobs" // the same everywhere, and needs the Go command
	if os.Getenv("GASPI_TEST_LONG") != "1" {
		skipped += "|TestContract/heap"
	}
	out := inGuest(t, `
export GASPI_CI=1 GASPI_RDMA_PROVIDER='`+provider+`' GASPI_TEST_LONG='`+os.Getenv("GASPI_TEST_LONG")+`'
transport.test -test.v -test.timeout 18m -test.skip '`+skipped+`'
`, map[string]string{"transport.test": test})
	passed := regexp.MustCompile(`(?m)^ *--- PASS: `).FindAllString(out, -1)
	t.Logf("%d tests passed, with subtests", len(passed))
	if skipped := regexp.MustCompile(`(?m)^ *--- SKIP: .*`).FindAllString(out, -1); len(skipped) > 0 {
		t.Errorf("skipped, although everything must run here: %q", skipped)
	}
}

// A job is a script for the guest, and what is wanted of all that it prints.
type job struct {
	name, script string
	check        func(t *testing.T, out string)
}

// TestJobs runs whole jobs, one after the other in one guest: to boot takes as long as most
// of them.
func TestJobs(t *testing.T) {
	gate(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files := programs(t, "cmd/gaspi-bench", "cmd/gaspi-run", "examples/mfsgd")
	files["ranks"] = self
	seed := rand.Uint64() >> 1
	t.Logf("seed %d", seed)
	jobs := []job{allReduce(), factorize(), figures(), peerKilledMidPut(seed)}
	out := inGuest(t, scriptOf(jobs), files)
	for _, j := range jobs {
		said, rest, _ := strings.Cut(out, mark+j.name+" ")
		status, after, ended := strings.Cut(rest, "\n")
		out = after
		t.Run(j.name, func(t *testing.T) {
			if !ended || status != "0" {
				t.Fatalf("exit status %q, want 0", status)
			}
			j.check(t, said)
		})
	}
}

// mark begins a line with the name of a job that has ended, and its exit status.
const mark = "-- end of "

// scriptOf returns the script that does jobs in their order.
func scriptOf(jobs []job) string {
	var all strings.Builder
	fmt.Fprintf(&all, "export GASPI_RDMA_PROVIDER='%s'\n", provider)
	for _, j := range jobs {
		fmt.Fprintf(&all, "(\n%s)\necho \"%s%s $?\"\n", j.script, mark, j.name)
	}
	return all.String()
}

// allReduce checks the result of every algorithm for an allreduce, by two, three and four
// ranks: of few lengths, since a call takes up to seconds on an emulated processor, unless
// GASPI_TEST_LONG is 1.
func allReduce() job {
	sizes := map[int]string{2: "12", 3: "4004", 4: "12"}
	for n := 2; n <= 4; n++ {
		if os.Getenv("GASPI_TEST_LONG") == "1" {
			sizes[n] = "12,4004,256KiB"
		}
	}
	script := fmt.Sprintf(`
bench() {
	gaspi-bench allreduce -n $1 --transport rdma --algorithm all --dtype float32 \
		--sizes $2 --time 10us --side gaspi --verify || exit
}
bench 2 %s
bench 3 %s
bench 4 %s
`, sizes[2], sizes[3], sizes[4])
	return job{"AllReduce", script, func(t *testing.T, out string) {
		for n := 2; n <= 4; n++ {
			checkRows(t, out, fmt.Sprintf("%d ranks over rdma", n), "allreduce", 20)
		}
	}}
}

// factorize runs the factorization with a slack flag by one and the same command line over
// shared memory and over verbs: what has no slack learns the same to the last bit.
func factorize() job {
	script := `
for transport in shm rdma; do
	gaspi-run -n 3 --transport $transport --rdma-provider '` + provider + `' mfsgd \
		--synthetic 200x60x4000 --slack 0,2 --iterations 2 --seed 1 --json $transport.json || exit
	echo "$transport: $(tr -d '\n' <$transport.json)"
done
`
	return job{"Factorize", script, func(t *testing.T, out string) {
		learnt := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^(shm|rdma): .*?"rmse": *([0-9.e-]+)`).FindAllStringSubmatch(out, -1) {
			learnt[m[1]] = m[2]
		}
		if learnt["rdma"] == "" || learnt["rdma"] != learnt["shm"] {
			t.Errorf("held-out error %q over rdma, %q over shm; want the same", learnt["rdma"], learnt["shm"])
		}
	}}
}

// figures measures what means nothing on an emulated processor: that rows come is the test.
func figures() job {
	script := `
for op in latency bandwidth; do
	gaspi-bench $op -n 2 --transport rdma --sizes 8,4KiB,64KiB --time 50ms || exit
done
`
	return job{"Figures", script, func(t *testing.T, out string) {
		checkRows(t, out, "2 ranks over rdma", "latency", 3)
		checkRows(t, out, "2 ranks over rdma", "bandwidth", 3)
	}}
}

// checkRows wants a head of gaspi-bench, and of one operation at least some rows, in
// all that was printed.
func checkRows(t *testing.T, out, head, op string, least int) {
	t.Helper()
	rows := regexp.MustCompile(`(?m)`+op+` +\S+  gaspi .*$`).FindAllString(out, -1)
	if !strings.Contains(out, head) || len(rows) < least {
		t.Errorf("%d rows of %s, want at least %d and a head with %q", len(rows), op, least, head)
	}
}

// heartbeat is how long a host may be silent in peerKilledMidPut. Survivors have to know
// within twice of it.
const heartbeat = 4 * time.Second

// peerKilledMidPut kills one of three ranks while all put into each other's memory, by three
// seeds: the others learn which one, end well, and leave no memory registered.
func peerKilledMidPut(seed uint64) job {
	role := func(seed uint64) string { return testenv.AsRole("puts", fmt.Sprint(seed)) }
	script := fmt.Sprintf(`
registered() { /bin/rdma resource show mr | grep -c pid; }
for role in '%s' '%s' '%s'; do
	gaspi-run -n 3 --transport rdma --rdma-provider '%s' --heartbeat %v \
		--on-failure continue --env "$role" ranks &
	most=0
	while [ -d /proc/$! ]; do
		now=$(registered)
		[ $now -le $most ] || most=$now
		usleep 100000
	done
	wait $!
	echo "status $?, registered $most at most and $(registered) at the end"
done
`, role(seed), role(seed+1), role(seed+2), provider, heartbeat)
	return job{"PeerKilledMidPut", script, func(t *testing.T, out string) {
		ends := strings.SplitAfter(out, " at the end")
		if len(ends) != 4 {
			t.Fatalf("%d jobs ended, want 3", len(ends)-1)
		}
		for i, end := range ends[:3] {
			checkSurvivors(t, i, end)
		}
	}}
}

// checkSurvivors checks what the ranks of one job printed.
func checkSurvivors(t *testing.T, i int, out string) {
	t.Helper()
	killed := times(out, `\[2\] killed (\d+)`)
	named := times(out, `\[[01]\] named (\d+)`)
	closed := regexp.MustCompile(`(?m)\[[01]\] closed$`).FindAllString(out, -1)
	if len(killed) != 1 || len(named) != 2 || len(closed) != 2 {
		t.Fatalf("job %d: %d ranks killed, %d survivors named it and %d closed, want 1, 2 and 2", i, len(killed), len(named), len(closed))
	}
	for _, at := range named {
		after := at.Sub(killed[0])
		t.Logf("job %d: named after %v", i, after.Round(time.Millisecond))
		if after > 2*heartbeat {
			t.Errorf("job %d: named after %v; the limit is %v", i, after, 2*heartbeat)
		}
	}
	if !regexp.MustCompile(`status 137, registered [1-9]\d* at most and 0 at the end`).MatchString(out) {
		t.Errorf("job %d: want status 137, some registered memory before and none at the end", i)
	}
}

// times returns the times that a pattern finds, in nanoseconds since 1970.
func times(text, pattern string) (all []time.Time) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		nanos, _ := strconv.ParseInt(m[1], 10, 64)
		all = append(all, time.Unix(0, nanos))
	}
	return all
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/tracefile"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// recorded is a rank that does one of each sort of what is recorded. With an argument, the last rank
// kills itself then, and the others end before they meet it.
func recorded(ctx context.Context, p *gaspi.Proc, args []string) error {
	defer p.Span("all of it")()
	seg, err := p.CreateSegment(ctx, 0, 64)
	if err != nil {
		return err
	}
	end := p.Span("ring")
	next := gaspi.Rank((int(p.Rank()) + 1) % p.Size())
	if err := p.MustQueue(0).Notify(seg.At(next, 0), gaspi.Notification{ID: 3, Value: 1}); err != nil {
		return err
	}
	if _, err := seg.WaitSome(ctx, 3, 1); err != nil {
		return err
	}
	end()
	if len(args) > 0 {
		if int(p.Rank()) == p.Size()-1 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	}
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	if err := collectives.AllReduce(ctx, team, []float64{1, 2, 3}, gaspi.Sum); err != nil {
		return err
	}
	h, err := collectives.Start(ctx, team, collectives.BarrierTask())
	if err != nil {
		return err
	}
	if err := h.Wait(ctx); err != nil {
		return err
	}
	if err := team.Close(); err != nil {
		return err
	}
	return p.Barrier(ctx, p.World())
}

// checked reads a trace, and returns what it counts and how often each name is in it.
func checked(t *testing.T, file string) (tracefile.Census, string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	census, err := tracefile.Check(strings.NewReader(string(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, and left in the directory: %v", err, left)
	}
	return census, string(text)
}

// TestTraceOfAJob has ranks on this and another host.
func TestTraceOfAJob(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	l := startOnHosts(t, "localhost:2,b:1", "--trace", file, "--env", testenv.AsRole("recorded"), itself(t))
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, l.stderr)
	}
	if said := regexp.MustCompile(`(?s)wrote .*t\.json: \d+ events\ngaspi-run: rank \d has \d+ % of the critical path of \S+\nSHARE .*`); !said.MatchString(l.stderr.String()) {
		t.Errorf("stderr %q; want %s", l.stderr, said)
	}
	census, text := checked(t, file)
	if census.Processes != 4 || census.Operations != 3 {
		t.Errorf("%+v; want 3 ranks and the path, and 3 operations", census)
	}
	for name, want := range map[string]int{
		"all of it": 3, "ring": 3, "Queue.Notify": 3, "Proc.Barrier": 3, "rank 2 on b": 1,
		"allreduce \\(sum of 3 float64\\) by [a-z ]*": 3,
	} {
		if got := len(regexp.MustCompile(`"name":"`+name+`[^"]*"(,"ts"|},"cat|}})`).FindAllString(text, -1)); got != want {
			t.Errorf("%d of %s, want %d\n%s", got, name, want, text)
		}
	}
}

// ringReduce is a rank of a pipelined ring.
func ringReduce(ctx context.Context, p *gaspi.Proc, _ []string) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	vector := make([]float64, 1<<16)
	for range 3 {
		if err := collectives.AllReduce(ctx, team, vector, gaspi.Sum, collectives.Algorithm("ring/4096x1")); err != nil {
			return err
		}
	}
	return team.Close()
}

// TestTraceOfARing has each arrow go from the put of a rank to the await of the next one for that notification.
func TestTraceOfARing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	l := start(t, "-n", "4", "--trace", file, "--env", testenv.AsRole("ring"), itself(t))
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, l.stderr)
	}
	_, text := checked(t, file)
	arrows, err := tracefile.Arrows(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, a := range arrows {
		from, to := a[0], a[1]
		if from.Name != "put" || to.Name != "await" {
			continue
		}
		steps++
		if to.Process != (from.Process+1)%4 || from.Args["peer"] != float64(to.Process) ||
			from.Args["notification"] != to.Args["notification"] || from.Args["value"] != to.Args["value"] {
			t.Errorf("an arrow from %+v to %+v", from, to)
		}
	}
	if steps == 0 {
		t.Errorf("no await has an arrow, of %d arrows", len(arrows))
	}
}

// TestTraceKeepsWhatTheDeadRecorded has a rank that is killed by signal 9.
func TestTraceKeepsWhatTheDeadRecorded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	l := start(t, "-n", "2", "--trace", file, "--env", testenv.AsRole("recorded", "dies"), itself(t))
	if code := l.wait(); code != 128+int(syscall.SIGKILL) {
		t.Fatalf("exit code %d, stderr %q", code, l.stderr)
	}
	if _, text := checked(t, file); !strings.Contains(text, `"ph":"X","pid":1,"tid":1,"name":"ring"`) {
		t.Errorf("nothing of rank 1:\n%s", text)
	}
}

func TestTraceFileThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	for file, want := range map[string]string{
		"":               `--trace "": expected FILE`,
		dir:              "trace file " + dir + " is there and no regular file: expected a new name, or a file to replace",
		dir + "/no/t":    "trace file " + dir + "/no/t: there is no directory " + dir + "/no; make it, or name another file",
		"/proc/self/t.x": "trace file /proc/self/t.x: no file can be made in directory /proc/self; name a file in another one",
	} {
		l := start(t, "-n", "1", "--trace", file, "sh", "-c", "echo started")
		if code := l.wait(); code == 0 || !strings.HasPrefix(l.complaints(), "gaspi-run: "+want) || len(l.lines) > 0 {
			t.Errorf("%q: exit code %d, stderr %q; want %s", file, code, l.stderr, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestShowTrace(t *testing.T) {
	result := launcher.Result{Trace: &launcher.TraceResult{
		Events: 7, Dropped: 2, LeftOut: 5, Incomplete: true, Length: 10 * time.Second,
		Path: []launcher.PathShare{{Rank: 0, Call: "x", Time: 4 * time.Second}, {Rank: 2, Call: "y", Time: 3 * time.Second}, {Rank: 2, Call: "z", Time: 3 * time.Second}},
	}}
	var b strings.Builder
	if !showTrace(&b, "f", result) {
		t.Error("there is a file")
	}
	result.Trace = &launcher.TraceResult{Missing: []string{"host b is gone"}}
	showTrace(&b, "f", result)
	result.Trace = &launcher.TraceResult{Err: fmt.Errorf("no room")}
	if showTrace(&b, "f", result) {
		t.Error("there is no file")
	}
	want := `gaspi-run: wrote f: 7 events, the last of each rank; 2 earlier ones were dropped; 5 short calls in rapid succession were only counted
gaspi-run: rank 2 has 60 % of the critical path of 10s since the first event that was kept
SHARE  TIME  RANK  CALL
40 %   4s    0     x
30 %   3s    2     y
30 %   3s    2     z
gaspi-run: --trace: host b is gone
gaspi-run: wrote f: 0 events; ranks record what they do with package gaspi
gaspi-run: no room
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

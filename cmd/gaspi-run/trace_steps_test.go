package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/tracefile"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// stepArrows returns the arrows of a trace between steps, of which both ends have one notification and value, and
// whose first has the rank of the second as its peer. Others are errors.
func stepArrows(t *testing.T, file string) (all [][2]tracefile.End) {
	t.Helper()
	_, text := checked(t, file)
	arrows, err := tracefile.Arrows(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrows {
		from, to := a[0], a[1]
		if !strings.Contains(to.Name, "await") && to.Name != "wait" {
			continue
		}
		all = append(all, a)
		if from.Args["peer"] != float64(to.Process) || from.Args["notification"] != to.Args["notification"] || from.Args["value"] != to.Args["value"] {
			t.Errorf("an arrow from %+v to %+v", from, to)
		}
	}
	return all
}

// TestTraceOfConcurrentSegments has rings whose segments are under way at once, in calls and in the background: each
// arrow goes from the put of a rank to the wait of the next one that it ended, and so has that put's notification.
func TestTraceOfConcurrentSegments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.json")
	l := start(t, "-n", "4", "--trace", file, "--env", testenv.AsRole("segments"), itself(t))
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, l.stderr)
	}
	waits := map[int]int{}
	for _, a := range stepArrows(t, file) {
		if from, to := a[0], a[1]; to.Name == "wait" {
			waits[to.Process]++
			if from.Name != "put" || to.Process != (from.Process+1)%4 {
				t.Errorf("an arrow from %+v to %+v", from, to)
			}
		}
	}
	if len(waits) != 4 {
		t.Errorf("waits that have an arrow, by rank: %v", waits)
	}
}

// ringOfSegments is a rank of such rings. Each rank is late for one of them, so that the next one waits for it.
func ringOfSegments(ctx context.Context, p *gaspi.Proc, _ []string) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	vector := make([]float64, 1<<14)
	for late := range gaspi.Rank(p.Size()) {
		if p.Rank() == late {
			time.Sleep(20 * time.Millisecond) // sleep: it is to be late
		}
		if err := collectives.AllReduce(ctx, team, vector, gaspi.Sum, collectives.Algorithm("ring/4096x4")); err != nil {
			return err
		}
		h, err := collectives.Start(ctx, team, collectives.AllReduceTask(vector, gaspi.Sum, collectives.Algorithm("ring/4096x4")))
		if err != nil {
			return err
		}
		select {
		case <-h.Done(): // by the goroutine of the team alone
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
	}
	return team.Close()
}

// runAhead is a rank of broadcasts or reductions of 8 bytes from or to rank 0, as its first argument says, which goes
// on when others want it: see TestTraceOfCredits. Its second argument is a directory, in which they leave files.
func runAhead(ctx context.Context, p *gaspi.Proc, args []string) error {
	team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
	if err != nil {
		return err
	}
	x := []int64{1}
	eager := collectives.Algorithm("eager")
	call := func() error {
		_, err := collectives.Broadcast(ctx, team, 0, x, eager)
		return err
	}
	sends := p.Rank() == 0
	if args[0] == "reduce" {
		call = func() error {
			_, err := collectives.Reduce(ctx, team, 0, x, gaspi.Sum, eager)
			return err
		}
		sends = !sends
	}
	told := func(what string) error {
		for {
			if _, err := os.Stat(filepath.Join(args[1], what)); err == nil {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			time.Sleep(time.Millisecond) // sleep: between two looks for a file
		}
	}
	if err := call(); err != nil { // which agrees on the plan
		return err
	}
	fmt.Println(p.Job())
	if sends {
		err = told("send")
	}
	if err == nil {
		err = call()
	}
	if err == nil {
		err = p.Barrier(ctx, p.World())
	}
	if err == nil && !sends {
		err = told(fmt.Sprintf("receive%d", p.Rank()))
	}
	many := func() {
		for i := 0; err == nil && i < 400; i++ { // more than there are copies of eager memory
			err = call()
		}
	}
	many()
	for range 20 {
		if err == nil {
			err = p.Barrier(ctx, p.World())
		}
		if sends {
			time.Sleep(5 * time.Millisecond) // sleep: others wait for the call meanwhile
		}
		if err == nil {
			err = call()
		}
		if err == nil {
			err = p.Barrier(ctx, p.World())
		}
		if !sends {
			time.Sleep(time.Duration(p.Rank()+1) * 5 * time.Millisecond) // sleep: others wait for credits meanwhile, of one after the other
		}
		many()
	}
	if err != nil {
		return err
	}
	return team.Close()
}

// TestTraceOfCredits has the senders of rooted operations, which may be up to 256 calls ahead, wait for credits. Those who
// receive begin when gaspi-run says that the senders wait in their call, and for whom; senders begin when it says that
// receivers wait. Then both wait for each other some times more, since posts of short runs need not be recorded. The arrows
// say who waited for whom.
func TestTraceOfCredits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op      string
		senders []launcher.Rank
		order   []launcher.Rank // of those who receive, one after the other
	}{
		{"broadcast", []launcher.Rank{0}, []launcher.Rank{1, 2}},
		{"reduce", []launcher.Rank{1, 2}, []launcher.Rank{0}},
	} {
		t.Run(c.op, func(t *testing.T) {
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "t.json")
			l := start(t, "-n", "3", "--http", ":0", "--trace", file, "--env", testenv.AsRole("ahead", c.op, dir), itself(t))
			l.job(3)
			at := l.page()
			tell := func(what string) {
				if err := os.WriteFile(filepath.Join(dir, what), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			wait := func(ranks []launcher.Rank, from string) {
				testenv.EventuallySucceeds(t, func() error { return waitsFor(t, at, ranks, c.op, from) })
			}
			from := "0"
			if c.op == "reduce" {
				from = "1 and 2"
			}
			wait(c.order, from)
			tell("send")
			for _, r := range c.order {
				wait(c.senders, fmt.Sprint(r))
				tell(fmt.Sprintf("receive%d", r))
			}
			if code := l.wait(); code != 0 {
				t.Fatalf("exit code %d, stderr %q", code, l.stderr)
			}
			got := map[string]int{}
			for _, a := range stepArrows(t, file) {
				got[fmt.Sprintf("%s of %d to %s of %d", a[0].Name, a[0].Process, a[1].Name, a[1].Process)]++
			}
			for _, r := range c.order {
				for _, s := range c.senders {
					for _, want := range []string{
						fmt.Sprintf("put of %d to await of %d", s, r),
						fmt.Sprintf("credit of %d to await credit of %d", r, s),
					} {
						if got[want] == 0 {
							t.Errorf("no arrow from %s; there are %v", want, got)
						}
						delete(got, want)
					}
				}
			}
			for other := range got {
				if strings.Contains(other, "credit") {
					t.Errorf("an arrow from %s", other)
				}
			}
		})
	}
}

// waitsFor returns nil if the data of the page says that some ranks wait in an operation for others.
func waitsFor(t *testing.T, at string, ranks []launcher.Rank, op, from string) error {
	text, err := fetch(t, at+"api/job")
	if err != nil {
		return err
	}
	var now struct {
		Ranks []struct{ Call, From string }
	}
	if err := json.Unmarshal([]byte(text), &now); err != nil {
		return err
	}
	for _, r := range ranks {
		if at := now.Ranks[r]; !strings.HasPrefix(at.Call, op) || at.From != from {
			return fmt.Errorf("rank %d waits in %q for %q, not in %s for %s", r, at.Call, at.From, op, from)
		}
	}
	return nil
}

package ranktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{
		"adds": Rank(gaspi.Config{}, playSum),
		"fails": Rank(gaspi.Config{}, func(_ context.Context, p *gaspi.Proc, _ []string) error {
			return fmt.Errorf("rank %d has failed", p.Rank())
		}),
		"hangs": playHanging,
		"late":  playLate,
	})
}

// playHanging waits until it is killed, also when its context has ended. A select without
// cases would be a deadlock once no timer of the process is left.
func playHanging(context.Context, []string) error {
	time.Sleep(time.Hour) // sleep: until it is killed
	return nil
}

// playSum prints to both streams.
func playSum(ctx context.Context, p *gaspi.Proc, args []string) error {
	x := []int64{int64(p.Rank())}
	if err := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum); err != nil {
		return err
	}
	fmt.Println(args, x[0])
	fmt.Fprintln(os.Stderr, os.Getenv("RANKTEST_MORE"))
	return nil
}

// playLate returns what its context says of a job that may take an hour.
func playLate(ctx context.Context, _ []string) error {
	at, is := ctx.Deadline()
	if !is || time.Until(at) > testenv.Before(time.Hour) {
		return fmt.Errorf("the context ends at %v (%v), which is not before the job", at, is)
	}
	return nil
}

func TestRun(t *testing.T) {
	var beside bytes.Buffer
	o := Succeeds(t, launcher.Config{Ranks: 3, Env: []string{"RANKTEST_MORE=more"}, Stdout: &beside}, "adds", "a b", "c")
	lines := slices.Sorted(strings.Lines(o.Stdout))
	if want := []string{"[0] [a b c] 3\n", "[1] [a b c] 3\n", "[2] [a b c] 3\n"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if o.Stdout != beside.String() {
		t.Errorf("the writer of the configuration has %q, want %q", beside.String(), o.Stdout)
	}
	lines = slices.Sorted(strings.Lines(o.Stderr))
	if want := []string{"[0] more\n", "[1] more\n", "[2] more\n"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	for line := range strings.Lines(o.Stdout + o.Stderr) {
		if !strings.Contains(o.Output, line) {
			t.Errorf("all of the output lacks %q:\n%s", line, o.Output)
		}
	}
	Succeeds(t, launcher.Config{Ranks: 1, Timeout: time.Hour}, "late")
}

// A fake is a test with a deadline of its own, which keeps what was reported.
type fake struct {
	testing.TB
	deadline time.Time
	said     string
}

func (f *fake) Deadline() (time.Time, bool) { return f.deadline, true }

func (f *fake) Errorf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

// Fatal leaves the caller running, which has nothing to do after it.
func (f *fake) Fatal(args ...any) { f.said += fmt.Sprint(args...) }

func TestRunFails(t *testing.T) {
	for _, c := range []struct {
		role  string
		limit time.Duration
		code  int
		want  []string
	}{
		{"fails", testenv.Limit(t), 1, []string{"exit code 1", "exited with status 1", "[0] rank 0 has failed\n"}},
		{"hangs", time.Second, 124, []string{"exit code 124", "timed out after"}},
		{"none", testenv.Limit(t), 1, []string{"no role has this name"}},
	} {
		t.Run(c.role, func(t *testing.T) {
			f := &fake{TB: t, deadline: time.Now().Add(c.limit)}
			o := Succeeds(f, launcher.Config{Ranks: 1}, c.role)
			if o.ExitCode != c.code {
				t.Errorf("exit code %d, want %d", o.ExitCode, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(f.said, want) {
					t.Errorf("%q is not in the report:\n%s", want, f.said)
				}
			}
		})
	}
}

func TestLocal(t *testing.T) {
	sums := make([]int64, 3)
	Local(t, 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		x := []int64{1}
		err := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum)
		sums[p.Rank()] = x[0]
		return err
	})
	if want := []int64{3, 3, 3}; !slices.Equal(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
	f := &fake{TB: t, deadline: time.Now().Add(time.Hour)}
	Local(f, 2, gaspi.Config{}, func(_ context.Context, p *gaspi.Proc) error {
		if p.Rank() == 0 {
			return nil
		}
		return errors.New("it has failed")
	})
	if want := "rank 1: it has failed"; !strings.Contains(f.said, want) {
		t.Errorf("%q, want %q in it", f.said, want)
	}
	f = &fake{TB: t, deadline: time.Now().Add(time.Second)}
	Local(f, 1, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error { <-ctx.Done(); return ctx.Err() })
	if want := context.DeadlineExceeded.Error(); !strings.Contains(f.said, want) {
		t.Errorf("%q, want %q in it", f.said, want)
	}
}

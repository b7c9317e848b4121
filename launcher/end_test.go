package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestExitCodeIsThatOfTheFirstFailure(t *testing.T) {
	cases := []struct {
		name, script string
		onFailure    OnFailure
		code         int
		first        int // -1 for none
		notice       string
	}{
		{"all well", "exit 0", Abort, 0, -1, `^$`},
		{"status", `test $GASPI_RANK != 2 || exit 3; read x <$PIPE`, Abort, 3, 2,
			`^rank 2 \(pid \d+\) exited with status 3 after [\d.]+ m?s; ended the other 3 ranks\n$`},
		{"signal", `test $GASPI_RANK != 1 || kill -KILL $$; read x <$PIPE`, Abort, 137, 1,
			`^rank 1 \(pid \d+\) was killed by signal 9 \(killed\) after [\d.]+ m?s; ended the other 3 ranks\n$`},
		{"others end by themselves", `test $GASPI_RANK != 3 || exit 5; exit 0`, Continue, 5, 3,
			`^rank 3 \(pid \d+\) exited with status 5 after [\d.]+ m?s(; the other (rank goes|[23] ranks go) on)?\n$`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pipe := filepath.Join(t.TempDir(), "pipe") // whoever opens it to read waits for ever
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := shell(4, c.script)
			cfg.OnFailure = c.onFailure
			cfg.Env = []string{"PIPE=" + pipe}
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code {
				t.Errorf("exit code %d, %v; want %d", o.ExitCode, err, c.code)
			}
			if c.first < 0 != (o.First == nil) || o.First != nil && int(o.First.Rank) != c.first {
				t.Errorf("first failure %+v, want rank %d", o.First, c.first)
			}
			if !regexp.MustCompile(c.notice).MatchString(o.notice) || o.Sentence != strings.TrimSuffix(o.notice, "\n") && c.onFailure == Abort {
				t.Errorf("notice %q, sentence %q; want %s", o.notice, o.Sentence, c.notice)
			}
			if o.stderr != "" {
				t.Errorf("unexpected output: %s", o.stderr)
			}
		})
	}
}

func TestContinueLetsTheOthersFinish(t *testing.T) {
	// The other ranks wait until the user has been told of the first failure.
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	cfg := shell(4, `test $GASPI_RANK = 0 && exit 9; read x <$PIPE; echo done; exit $GASPI_RANK`)
	cfg.OnFailure = Continue
	cfg.Env = []string{"PIPE=" + path}
	var notices []string
	cfg.Stdout = &capture{}
	cfg.Notice = func(s string) {
		if testenv.Complaints(s+"\n") == "" {
			return
		}
		notices = append(notices, s)
		pipe.WriteString("go\ngo\ngo\n")
	}
	result, err := Run(testenv.Context(t), cfg)
	if err != nil || result.ExitCode != 9 || result.First.Rank != 0 {
		t.Errorf("%v, %+v; want exit code 9 of rank 0", err, result)
	}
	for r, e := range result.Ranks[1:] {
		if e.Status != r+1 || e.Ended {
			t.Errorf("%+v, want status %d of its own will", e, r+1)
		}
	}
	want := regexp.MustCompile(`^rank 0 \(pid \d+\) exited with status 9 after [\d.]+ m?s; the other 3 ranks go on$`)
	if len(notices) != 1 || !want.MatchString(notices[0]) {
		t.Errorf("notices %q, want one like %v", notices, want)
	}
}

func TestTimeout(t *testing.T) {
	cfg := role("wait", 2)
	cfg.Timeout = 100 * time.Millisecond
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 124 || o.notice != "timed out after 100ms; ended the 2 ranks\n" {
		t.Errorf("exit code %d, notice %q, %v", o.ExitCode, o.notice, err)
	}
	if o.First != nil {
		t.Errorf("%+v counts as having failed by itself", o.First)
	}
}

func TestRanksThatDoNotListenAreKilled(t *testing.T) {
	for _, grace := range []time.Duration{50 * time.Millisecond, -1} {
		cfg := role("deaf", 3)
		cfg.KillGrace = grace
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &capture{seen: func(all string) {
			if strings.Count(all, "ready") == 3 {
				cancel()
			}
		}}
		cfg.Stdout = out
		result, err := Run(ctx, cfg)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("grace %v: %v, want context.Canceled", grace, err)
		}
		for _, e := range result.Ranks {
			if e.Signal != syscall.SIGKILL || !e.Ended {
				t.Errorf("grace %v: %+v, want killed by the launcher", grace, e)
			}
		}
	}
}

func TestChildrenOfRanksEndToo(t *testing.T) {
	cases := []struct {
		name, script string
		code         int
	}{
		{"after a failure", `sleep 1000 & echo $!; test $GASPI_RANK = 0 && exit 4; wait`, 4},
		{"left behind by success", `sleep 1000 & echo $!`, 0},
		{"deaf ones", `sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done' & wait`, 124},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := shell(2, c.script)
			cfg.KillGrace = 100 * time.Millisecond
			if c.code == 124 {
				cfg.Timeout = 300 * time.Millisecond
			}
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code {
				t.Errorf("exit code %d, %v; want %d", o.ExitCode, err, c.code)
			}
			for r := range 2 {
				for _, line := range linesOf(o.stdout, r) {
					pid, err := strconv.Atoi(line)
					if err != nil {
						t.Fatal(err)
					}
					if isRunning(pid) {
						t.Errorf("process %d, started by rank %d, still runs", pid, r)
					}
				}
			}
		})
	}
}

// isRunning reports whether a process exists and is no zombie.
func isRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, named := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return err == nil && named && state[0] != 'Z' && state[0] != 'X'
}

func TestTimeoutAfterAFailureIsTold(t *testing.T) {
	cfg := shell(2, `test $GASPI_RANK = 0 && exit 9; sleep 1000`)
	cfg.OnFailure, cfg.Timeout = Continue, 200*time.Millisecond
	o, err := runJob(t, cfg)
	for err == nil && o.First == nil { // the machine is too slow for rank 0 to fail by then
		cfg.Timeout *= 2
		o, err = runJob(t, cfg)
	}
	want := regexp.MustCompile(`^rank 0 .* status 9 after .*; the other rank goes on\ntimed out after ` + cfg.Timeout.String() + `; ended the rank\n$`)
	if err != nil || o.ExitCode != 9 || !want.MatchString(o.notice) {
		t.Errorf("exit code %d, notice %q, %v; want 9 and %v", o.ExitCode, o.notice, err, want)
	}
}

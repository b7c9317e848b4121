package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsAreExact(t *testing.T) {
	args := []string{"", "a b", "  ", `"quoted"`, `'`, "new\nline", "\t", "-n", "--", "*", "$HOME", `back\slash`, "\xff\xfe", "ünï"}
	o, err := runJob(t, role("args", 3, args...))
	if err != nil || o.ExitCode != 0 {
		t.Fatalf("%v, %+v", err, o)
	}
	want := []string{`"/proc/self/exe"`}
	for _, a := range args {
		want = append(want, fmt.Sprintf("%q", a))
	}
	for r := range 3 {
		if d := cmp.Diff(want, linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestEnvironmentIsExact(t *testing.T) {
	t.Setenv("GASPI_RANK", "stale")
	t.Setenv("GASPI_OUTPUT_WIDTH", "stale")
	t.Setenv("LAUNCHER_TEST_EMPTY", "")
	t.Setenv("LAUNCHER_TEST_REPLACED", "old")
	cfg := role("env", 2)
	cfg.Env = append(cfg.Env, "LAUNCHER_TEST_REPLACED=new=\nline", "LAUNCHER_TEST_ADDED=")
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		if !slices.Contains([]string{"GASPI_RANK", "GASPI_OUTPUT_WIDTH", "LAUNCHER_TEST_REPLACED"}, key) {
			want = append(want, kv)
		}
	}
	want = append(want, cfg.Env...)
	for r := range 2 {
		got := linesOf(o.stdout, r)
		wantRank := slices.Concat(want, []string{
			fmt.Sprintf("GASPI_RANK=%d", r), "GASPI_SIZE=2",
			fmt.Sprintf("GASPI_LOCAL_RANK=%d", r), "GASPI_LOCAL_SIZE=2",
			"GASPI_JOB=" + jobOf(got), "GASPI_BOOT_FD=3", "GASPI_OUTPUT_TTY=0",
		})
		for i := range wantRank {
			wantRank[i] = strconv.Quote(wantRank[i])
		}
		if d := cmp.Diff(wantRank, got); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

// jobOf finds the id of the job, which is random, in a printed environment.
func jobOf(lines []string) string {
	for _, line := range lines {
		if m := regexp.MustCompile(`^"GASPI_JOB=([0-9a-f]{32})"$`).FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return "(not found)"
}

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
		notices = append(notices, s)
		pipe.WriteString("go\ngo\ngo\n")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	result, err := Run(ctx, cfg)
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

func TestLabelledOutput(t *testing.T) {
	cfg := shell(3, `printf 'one\n\ntwo\nlast of %s' $GASPI_RANK; printf 'error %s\n' $GASPI_RANK >&2`)
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 3 {
		if d := cmp.Diff([]string{"one", "", "two", fmt.Sprintf("last of %d", r)}, linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d stdout (-want +got):\n%s", r, d)
		}
		if d := cmp.Diff([]string{fmt.Sprintf("error %d", r)}, linesOf(o.stderr, r)); d != "" {
			t.Errorf("rank %d stderr (-want +got):\n%s", r, d)
		}
	}
}

func TestLinesAreNeverInterleaved(t *testing.T) {
	cfg := shell(4, `i=0; while [ $i -lt 300 ]; do printf 'aaaaaaaa'; printf 'bbbbbbbb\n'; i=$((i+1)); done`)
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 4 {
		if d := cmp.Diff(slices.Repeat([]string{"aaaaaaaabbbbbbbb"}, 300), linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestRawOutputPassesThrough(t *testing.T) {
	cfg := shell(1, `printf 'no newline, \r and \0 too'`)
	cfg.Output = OutputRaw
	o, err := runJob(t, cfg)
	if want := "no newline, \r and \x00 too"; err != nil || o.stdout != want {
		t.Errorf("to a writer: %q, %v; want %q", o.stdout, err, want)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cfg.Stdout = file
	if _, err := runJob(t, cfg); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file.Name())
	if want := "no newline, \r and \x00 too"; err != nil || string(got) != want {
		t.Errorf("to a file: %q, %v; want %q", got, err, want)
	}
}

func TestOutputToADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "logs")
	cfg := shell(2, `echo "out $GASPI_RANK $GASPI_OUTPUT_TTY"; echo err >&2`)
	cfg.Output, cfg.OutputDir = OutputDir, dir
	for range 2 { // the second run replaces what the first wrote
		if o, err := runJob(t, cfg); err != nil || o.stdout+o.stderr != "" {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	want := map[string]string{"0.stdout": "out 0 0\n", "1.stdout": "out 1 0\n", "0.stderr": "err\n", "1.stderr": "err\n"}
	got := map[string]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		got[e.Name()] = string(text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	cfg.OutputDir = filepath.Join(dir, "0.stdout", "below-a-file")
	if _, err := runJob(t, cfg); err == nil || !strings.Contains(err.Error(), "0.stdout") {
		t.Errorf("a directory that cannot be made: %v", err)
	}
}

func TestStandardFilesAreOrdinary(t *testing.T) {
	o, err := runJob(t, role("flags", 1))
	if err != nil || o.stdout != "[0] nonblocking false\n" {
		t.Errorf("%q, %v", o.stdout, err)
	}
}

func TestInputGoesToRankZero(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(file, []byte("first\nsecond\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cfg := shell(3, `while read line; do echo "got $line"; done; echo end`)
	cfg.Stdin = in
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"got first", "got second", "end"}, {"end"}, {"end"}}
	for r := range want {
		if d := cmp.Diff(want[r], linesOf(o.stdout, r)); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", r, d)
		}
	}
}

func TestRanksExchange(t *testing.T) {
	// Two jobs at once use the same names, and do not meet.
	var both sync.WaitGroup
	for _, job := range []string{"job a", "job b"} {
		both.Go(func() {
			o, err := runJob(t, role("exchange", 3, job))
			if err != nil || o.ExitCode != 0 {
				t.Errorf("%s: %v, %+v", job, err, o)
			}
			want := fmt.Sprintf(`["%s of rank 0" "%[1]s of rank 1" "%[1]s of rank 2"] <nil>`, job)
			for r := range 3 {
				if d := cmp.Diff([]string{want}, linesOf(o.stdout, r)); d != "" {
					t.Errorf("%s rank %d (-want +got):\n%s", job, r, d)
				}
			}
		})
	}
	both.Wait()
}

func TestRanksLearnWhoIsGone(t *testing.T) {
	t.Run("normally", func(t *testing.T) {
		o, err := runJob(t, role("left", 3))
		if err != nil || o.ExitCode != 0 {
			t.Fatalf("%v, %+v", err, o)
		}
		for r := 1; r < 3; r++ {
			got := linesOf(o.stdout, r)
			if len(got) != 1 || !strings.HasPrefix(got[0], "{Rank:") || !strings.Contains(got[0], "Left:true Reason:exit status 0") {
				t.Errorf("rank %d: %q", r, got)
			}
		}
	})
	t.Run("by failing", func(t *testing.T) {
		cfg := role("dies", 3)
		cfg.OnFailure = Continue
		o, err := runJob(t, cfg)
		if err != nil || o.ExitCode != 7 {
			t.Fatalf("%v, %+v", err, o)
		}
		want := []string{"{Rank:1 Left:false Reason:exit status 7}", `true exchange "late": rank 1 is gone: exit status 7`}
		for _, r := range []int{0, 2} {
			if d := cmp.Diff(want, linesOf(o.stdout, r)); d != "" {
				t.Errorf("rank %d (-want +got):\n%s", r, d)
			}
		}
	})
}

func TestARankCanKillAnother(t *testing.T) {
	cfg := role("kills", 2)
	cfg.OnFailure = Continue
	o, err := runJob(t, cfg)
	if err != nil || o.ExitCode != 137 {
		t.Errorf("exit code %d, %v; want 137", o.ExitCode, err)
	}
	if d := cmp.Diff([]string{"<nil> true"}, linesOf(o.stdout, 0)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
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
	state, _ := parseStat(stat)
	return err == nil && state != 'Z' && state != 'X'
}

func TestBindToCores(t *testing.T) {
	cores, err := exec.Command("nproc").Output()
	if err != nil {
		t.Fatal(err)
	}
	count, err := strconv.Atoi(strings.TrimSpace(string(cores)))
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Program: "nproc", Ranks: 3, Bind: BindCore}
	o, err := runJob(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for r := range 3 {
		if got := linesOf(o.stdout, r); !slices.Equal(got, []string{"1"}) {
			t.Errorf("rank %d may use %q cores, want 1 of %d", r, got, count)
		}
	}
	cfg = Config{Program: "grep", Args: []string{"Cpus_allowed_list", "/proc/self/status"}, Ranks: count + 1, Bind: BindCore}
	if o, err = runJob(t, cfg); err != nil {
		t.Fatal(err)
	}
	if first, again := linesOf(o.stdout, 0), linesOf(o.stdout, count); !slices.Equal(first, again) {
		t.Errorf("rank 0 has %q and rank %d has %q, want the same core", first, count, again)
	}
	if count > 1 && slices.Equal(linesOf(o.stdout, 0), linesOf(o.stdout, 1)) {
		t.Errorf("ranks 0 and 1 have the same core %q", linesOf(o.stdout, 0))
	}
}

func TestStartThatFails(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("\x00\x01 no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := runJob(t, Config{Program: bad, Ranks: 3})
	if !errors.Is(err, syscall.ENOEXEC) || !strings.Contains(err.Error(), "start rank 0") {
		t.Errorf("%v, want a format error for rank 0", err)
	}
}

// A fullDevice takes a little, and then nothing more.
type fullDevice struct{ err error }

func (d fullDevice) Write([]byte) (int, error) { return 0, d.err }

func TestOutputThatNobodyTakesEndsTheJob(t *testing.T) {
	cases := []struct {
		name   string
		err    error
		code   int
		notice string
	}{
		{"closed pipe", &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 141, ""},
		{"full disk", syscall.ENOSPC, 1, "cannot write the output: no space left on device; ended the 2 ranks\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg := shell(2, `while :; do echo y; done`)
			cfg.Stdout = fullDevice{c.err}
			o, err := runJob(t, cfg)
			if err != nil || o.ExitCode != c.code || o.notice != c.notice {
				t.Errorf("exit code %d, notice %q, %v; want %d, %q", o.ExitCode, o.notice, err, c.code, c.notice)
			}
		})
	}
}

func TestNothingIsLeftInThisProcess(t *testing.T) {
	count := func() (descriptors, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	job := func() {
		if o, err := runJob(t, shell(4, "exit 0")); err != nil || o.ExitCode != 0 {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	job()
	fds, goroutines := count()
	for range 10 {
		job()
	}
	fdsAfter, goroutinesAfter := count()
	if fdsAfter > fds || goroutinesAfter > goroutines {
		t.Errorf("%d descriptors and %d goroutines before, %d and %d after 10 jobs", fds, goroutines, fdsAfter, goroutinesAfter)
	}
}

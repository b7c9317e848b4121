package launcher

import (
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
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

// statusLines has ranks print the lines of their /proc/self/status whose first word the
// pattern of a shell matches.
func statusLines(pattern string, ranks int) Config {
	return shell(ranks, "while read -r word rest; do case $word in "+pattern+") echo $word $rest;; esac; done </proc/self/status")
}

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
			"GASPI_JOB=" + jobOf(got), "GASPI_BOOT_FD=3", "GASPI_HOST=0", "GASPI_OUTPUT_TTY=0",
			fmt.Sprintf("GASPI_LOCAL_CORES=%d", runtime.GOMAXPROCS(0)), "GASPI_STATUS_FD=4",
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
		want := []string{"{Rank:1 Left:false Reason:exit status 7}", `true fence "late": rank 1 is gone: exit status 7`}
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
	cfg = statusLines("Cpus_allowed_list:", count+1)
	cfg.Bind = BindCore
	if o, err = runJob(t, cfg); err != nil {
		t.Fatal(err)
	}
	if first, next := linesOf(o.stdout, 0), linesOf(o.stdout, 1); !slices.Equal(first, next) {
		t.Errorf("rank 0 has %q and rank 1 has %q, want the same core", first, next)
	}
	if count > 1 && slices.Equal(linesOf(o.stdout, 0), linesOf(o.stdout, count)) {
		t.Errorf("ranks 0 and %d have the same core %q", count, linesOf(o.stdout, 0))
	}
}

// TestTimersOfRanksThatShareCores has the ranks say by how much the system may put off their timers.
func TestTimersOfRanksThatShareCores(t *testing.T) {
	if err := settableSlack(); err != nil {
		testenv.Lack(t, "the slack of timers cannot be set here: "+err.Error())
	}
	cores := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		ranks int
		want  string
	}{{1, "50000"}, {cores, "50000"}, {3 * cores, "150000"}, {21 * cores, "1050000"}} {
		o, err := runJob(t, Config{Program: "cat", Args: []string{"/proc/self/timerslack_ns"}, Ranks: c.ranks})
		if err != nil {
			t.Fatal(err)
		}
		for r := range c.ranks {
			if got := linesOf(o.stdout, r); !slices.Equal(got, []string{c.want}) {
				t.Errorf("rank %d of %d on %d cores: slack of %q ns, want %s", r, c.ranks, cores, got, c.want)
			}
		}
	}
}

// settableSlack returns why a thread cannot set its slack, or nil.
func settableSlack() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := thread.TimerSlack()
	if err == nil {
		err = thread.SetTimerSlack(own)
	}
	return err
}

func TestStartThatFails(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("\x00\x01 no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := runJob(t, Config{Program: bad, Ranks: 3})
	if !errors.Is(err, ErrNotExecutable) || !strings.Contains(err.Error(), "neither an ELF program nor a script") {
		t.Errorf("%v, want a sentence about its format", err)
	}
}

func TestNothingIsLeftInThisProcess(t *testing.T) {
	t.Run("this host", func(t *testing.T) { leavesNothing(t, 10, shell(4, "exit 0"), "") })
	t.Run("other hosts", func(t *testing.T) { leavesNothing(t, 3, onHosts(t, shell(0, "exit 0"), "a:2,localhost:1,b:1"), "") })
	t.Run("a host that cannot be had", func(t *testing.T) {
		leavesNothing(t, 3, onHosts(t, shell(0, "exit 0"), "a:2,localhost:1,unknown:1"), "host unknown: ssh")
	})
}

// leavesNothing runs a job that ends with that error some times, and counts what
// is left of it here.
func leavesNothing(t *testing.T, times int, cfg Config, want string) {
	count := func() (descriptors, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	job := func() {
		o, err := runJob(t, cfg)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || o.ExitCode != 0 {
			t.Fatalf("%v, %+v", err, o)
		}
	}
	job()
	fds, goroutines := count()
	for range times {
		job()
	}
	fdsAfter, goroutinesAfter := count()
	// A goroutine that has reported its end may still be on its way out.
	for tries := 0; goroutinesAfter > goroutines && tries < 100_000; tries++ {
		runtime.Gosched()
		fdsAfter, goroutinesAfter = count()
	}
	if fdsAfter > fds || goroutinesAfter > goroutines {
		t.Errorf("%d descriptors and %d goroutines before, %d and %d after %d jobs", fds, goroutines, fdsAfter, goroutinesAfter, times)
	}
}

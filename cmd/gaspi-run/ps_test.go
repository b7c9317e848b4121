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

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// stick says the name of the job, and waits: rank 1 for a notification that nobody posts, the others
// for rank 1.
func stick(ctx context.Context, p *gaspi.Proc, _ []string) error {
	fmt.Println(p.Job())
	seg, err := p.CreateSegment(ctx, 0, 8)
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		_, err = seg.WaitSome(ctx, 2, 3)
		return err
	}
	return p.Barrier(ctx, p.World())
}

// stuck is what the first line says of ranks that stick.
var stuck = regexp.MustCompile(`^rank 1 waits in Segment\.WaitSome for one of notifications 2-4 of segment 0 \(gaspi-run/ps_test\.go:\d+\), and (ranks 0 and 2|rank 0), which could end that, waits? too$`)

// job returns the name of the job that a launch of n ranks that stick has.
func (l *launch) job(n int) string {
	l.t.Helper()
	name := ""
	for range n {
		_, name, _ = strings.Cut(l.line(), "] ")
	}
	return name
}

// asked returns what ps says of a job once its first line is about ranks that stick.
func asked(t *testing.T, job string) string {
	t.Helper()
	var text string
	testenv.EventuallySucceeds(t, func() error {
		var b strings.Builder
		if err := ps([]string{job}, &b); err != nil {
			return err
		}
		text = b.String()
		if first, _, _ := strings.Cut(text, "\n"); !stuck.MatchString(first) {
			return fmt.Errorf("%s", text)
		}
		return nil
	})
	return text
}

// TestSeeingAJob asks by ps and by SIGQUIT for what ranks of this and other hosts do.
func TestSeeingAJob(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startOnHosts(t, "a:1,localhost:1,b:1", "--env", testenv.AsRole("stuck"), self)
	job := l.job(3)
	text := asked(t, job)
	here, _ := os.Hostname()
	for rank, host := range []string{"a", here, "b"} {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^%d +%s +(waiting|in collective) +(Segment.WaitSome for|Proc.Barrier of world, number 1)`, rank, regexp.QuoteMeta(host))).MatchString(text) {
			t.Errorf("nothing about rank %d on host %s:\n%s", rank, host, text)
		}
	}
	l.signal(syscall.SIGQUIT)
	testenv.Eventually(t, "a report", func() bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(l.complaints(), "gaspi-run: "), "\n")
		return stuck.MatchString(first)
	})
	l.signal(syscall.SIGTERM)
	if code := l.wait(); code != 143 {
		t.Errorf("exit code %d, stderr %q; want 143", code, l.stderr)
	}
	if err := ps([]string{job}, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "runs no job") {
		t.Errorf("after the end: %v", err)
	}
}

// TestPsOfSeveralJobs has ps without a name say how each job was started.
func TestPsOfSeveralJobs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for range 2 {
		l := start(t, "-n", "2", "--env", testenv.AsRole("stuck"), self, "an argument")
		want = append(want, fmt.Sprintf("%s (pid %d: %s)", l.job(2), l.cmd.Process.Pid, strings.Join(l.cmd.Args, " ")))
		defer l.signal(syscall.SIGTERM)
	}
	err = ps(nil, &strings.Builder{})
	for _, each := range want {
		if err == nil || !strings.Contains(err.Error(), "several jobs run: name one of ") || !strings.Contains(err.Error(), each) {
			t.Errorf("%v, want %s", err, each)
		}
	}
}

// TestStallEndsJob has gaspi-run end a job whose ranks stick.
func TestStallEndsJob(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := start(t, "-n", "2", "--stall-timeout", "2s", "--on-stall", "abort", "--env", testenv.AsRole("stuck"), self)
	l.job(2)
	if code := l.wait(); code != 124 || !strings.Contains(l.complaints(), "gaspi-run: no progress for ") ||
		!strings.HasSuffix(l.complaints(), "; ended the 2 ranks\n") {
		t.Errorf("exit code %d, stderr %q; want 124", code, l.stderr)
	}
}

// lag comes to gaspi.Init, rank 1 once a gate is open.
func lag(ctx context.Context, args []string) error {
	if os.Getenv("GASPI_RANK") == "1" {
		if err := testenv.AwaitGate(ctx, args[0]); err != nil {
			return err
		}
	}
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err != nil {
		return err
	}
	return p.Close()
}

// TestStallInInitEndsJob has gaspi-run end a job of which one rank never comes to gaspi.Init.
func TestStallInInitEndsJob(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	testenv.NewGate(t, gate)
	flags := []string{"--stall-timeout", "1s", "--on-stall", "abort", "--env", testenv.AsRole("lag", gate), itself(t)}
	want := regexp.MustCompile(`^gaspi-run: no progress for [\d.]+ s: rank 1 has not come to gaspi\.Init; rank 0 waits for it\n` +
		`(?s).*\ngaspi-run: no progress for [\d.]+ s: rank 1 has not come to gaspi\.Init; rank 0 waits for it; ended the 2 ranks\n$`)
	for name, l := range map[string]*launch{
		"one host": start(t, append([]string{"-n", "2"}, flags...)...),
		"hosts":    startOnHosts(t, "a:1,b:1", flags...),
	} {
		if code := l.wait(); code != 124 || !want.MatchString(l.complaints()) {
			t.Errorf("%s: exit code %d, stderr %q; want 124 and %v", name, code, l.stderr, want)
		}
	}
}

// TestNobodyInInitIsNoStall runs a program that is no rank, for longer than a wait may last.
func TestNobodyInInitIsNoStall(t *testing.T) {
	t.Parallel()
	l := start(t, "-n", "2", "--stall-timeout", "250ms", "--on-stall", "abort", "sleep", "1")
	if code := l.wait(); code != 0 || l.complaints() != "" {
		t.Errorf("exit code %d, stderr %q; want 0 and nothing", code, l.stderr)
	}
}

// TestSilentRank stops a rank, which then tells nothing.
func TestSilentRank(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := start(t, "-n", "2", "--heartbeat", "0", "--env", testenv.AsRole("stuck"), self)
	job := l.job(2)
	asked(t, job)
	for _, pid := range l.processes() {
		if pid != l.cmd.Process.Pid && strings.Contains(environment(pid), "GASPI_RANK=1\x00") {
			syscall.Kill(pid, syscall.SIGSTOP)
		}
	}
	want := regexp.MustCompile(`^rank 1 is stopped, or gets no processor, for \d+\.\d s; rank 0 waits for it\n`)
	testenv.EventuallySucceeds(t, func() error {
		var b strings.Builder
		if err := ps([]string{job}, &b); err != nil || !want.MatchString(b.String()) {
			return fmt.Errorf("%w\n%s", err, b.String())
		}
		return nil
	})
	l.signal(syscall.SIGTERM)
	if code := l.wait(); code != 143 {
		t.Errorf("exit code %d, stderr %q; want 143", code, l.stderr)
	}
}

// environment returns the variables of a process, each with a zero byte behind it.
func environment(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return string(text)
}

func TestPsRefuses(t *testing.T) {
	for want, args := range map[string][]string{
		`ps: this user runs no job "no such job" from this host`:                 {"no such job"},
		`ps: unexpected argument "b"; a program of that name is started as ./ps`: {"a", "b"},
	} {
		if err := ps(args, &strings.Builder{}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// fakeSSH stands for ssh: every host is this machine.
const fakeSSH = "#!/bin/sh\nHOSTNAME=$5 sh -c \"$6\"\nexit $?\n"

// startOnHosts runs gaspi-run with ranks on hosts that are all this machine.
// Processes that an agent starts are in the session of the test, too.
func startOnHosts(t *testing.T, hosts string, args ...string) *launch {
	t.Helper()
	return startIn(t, sshInPath(t, fakeSSH), gaspiRun, append([]string{"--hosts", hosts, "--interface", "127.0.0.1"}, args...)...)
}

// sshInPath makes a script the ssh of PATH.
func sshInPath(t *testing.T, script string) (env []string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "ssh"), script, 0o755)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

func TestSignalsReachOtherHosts(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startOnHosts(t, "a:1,localhost:1,b:1", "--env", testenv.AsRole("rank"), self)
	for range 3 {
		l.line()
	}
	l.signal(syscall.SIGINT)
	var got []string
	for range 6 {
		got = append(got, l.line())
	}
	slices.Sort(got)
	want := []string{"[0] child", "[0] rank", "[1] child", "[1] rank", "[2] child", "[2] rank"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if code := l.wait(); code != 130 || !strings.HasPrefix(l.complaints(), "gaspi-run: interrupted by SIGINT") {
		t.Errorf("exit code %d, stderr %q; want 130", code, l.stderr)
	}
}

// patient is a limit of silence that a busy machine keeps: a process of it may get no processor for
// half a second.
const patient = "2s"

func TestSuspendAndResumeOtherHosts(t *testing.T) {
	t.Parallel()
	l := startOnHosts(t, "a:1,b:1", "--heartbeat", patient, "sh", "-c", `echo $$; `+idle)
	pids := l.pids(2)
	inState := func(want string, pids ...int) func() error {
		return func() error {
			for _, pid := range pids {
				if s := stateOf(pid); (s == "T") != (want == "T") {
					return fmt.Errorf("process %d is in state %q", pid, s)
				}
			}
			return nil
		}
	}
	l.signal(syscall.SIGTSTP)
	testenv.EventuallySucceeds(t, inState("T", append(pids, l.cmd.Process.Pid)...))
	<-time.After(5 * time.Second) // more than twice patient; nothing tells that something did not happen
	for _, pid := range pids {
		if s := stateOf(pid); s != "T" {
			t.Fatalf("rank %d is in state %q after 5 s in suspension", pid, s)
		}
	}
	l.signal(syscall.SIGCONT)
	testenv.EventuallySucceeds(t, inState("R", append(pids, l.cmd.Process.Pid)...))
	l.signal(syscall.SIGTERM)
	if code := l.wait(); code != 143 || strings.Contains(l.stderr.String(), "lost") || strings.Contains(l.stderr.String(), "stopped") {
		t.Errorf("exit code %d, stderr %q; want 143", code, l.stderr)
	}
}

func TestSuspensionIsNoSilence(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startOnHosts(t, "a:2,b:1", "--heartbeat", patient, "--env", testenv.AsRole("barriers"), self)
	pids := append(l.pids(3), l.cmd.Process.Pid)
	stopped := func(want bool) func() error {
		return func() error {
			for _, pid := range pids {
				if s := stateOf(pid); (s == "T") != want {
					return fmt.Errorf("process %d is in state %q", pid, s)
				}
			}
			return nil
		}
	}
	l.signal(syscall.SIGTSTP)
	testenv.EventuallySucceeds(t, stopped(true))
	<-time.After(5 * time.Second) // more than twice patient
	l.signal(syscall.SIGCONT)
	if code := l.wait(); code != 0 || l.complaints() != "" {
		var rest []string
		for line := range l.lines {
			rest = append(rest, line)
		}
		t.Errorf("exit code %d, stderr %q, output %q", code, l.stderr, rest)
	}
}

func TestLauncherOfHostsKilledByNine(t *testing.T) {
	t.Parallel()
	l := startOnHosts(t, "a:2,b:1", "sh", "-c", `(trap '' TERM HUP INT; echo $$; `+idle+`) & sleep 1000 & echo $!; wait`)
	pids := append(l.pids(6), l.processes()...)
	l.signal(syscall.SIGKILL)
	if code := l.wait(); code != -9 { // and nothing is left
		t.Errorf("exit code %d, want killed by 9", code)
	}
	for _, pid := range pids {
		testenv.EventuallySucceeds(t, gone(pid))
	}
}

func TestProcessesThatLeaveTheirGroupEndOnOtherHosts(t *testing.T) {
	testenv.Need(t, "setsid")
	l := startOnHosts(t, "a:1,b:1", "--kill-grace", "100ms", "sh", "-c", `setsid sh -c 'trap "" TERM; echo $$; exec >/dev/null; `+idle+`' & test $GASPI_RANK = 1 && exec sleep 1000; read x; exit 1`)
	pids := l.pids(2)
	if code := l.wait(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, pid := range pids {
		testenv.EventuallySucceeds(t, gone(pid))
	}
}

func TestInputOfRankZeroElsewhere(t *testing.T) {
	l := startOnHosts(t, "a:1,b:1", "sh", "-c", `while read x; do echo got $x; done; echo end`)
	fmt.Fprintln(l.stdin, "one")
	for {
		if line := l.line(); line == "[0] got one" {
			break
		}
	}
	fmt.Fprintln(l.stdin, "two")
	if line := l.line(); line != "[0] got two" && line != "[1] end" {
		t.Errorf("%q", line)
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d; stderr %s", code, l.stderr)
	}
}

// address is where the launcher listens, as it says with -v.
var address = regexp.MustCompile(`other hosts reach this one at (\S+)`)

func TestStrangersAreRefused(t *testing.T) {
	l := startOnHosts(t, "a:1", "-v", "sh", "-c", `echo ready; read x`)
	l.line()
	testenv.EventuallySucceeds(t, func() error {
		if text := l.stderr.String(); !address.MatchString(text) {
			return fmt.Errorf("no address in %q", text)
		}
		return nil
	})
	at := address.FindStringSubmatch(l.stderr.String())[1]
	for _, greeting := range []string{"", "GET / HTTP/1.0\r\n\r\n", strings.Repeat("x", 4096)} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(greeting))
		conn.(*net.TCPConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(testenv.Limit(t)))
		answer := make([]byte, 64)
		if n, _ := conn.Read(answer); n > 0 {
			t.Errorf("%.10q was answered with %q", greeting, answer[:n])
		}
		conn.Close()
	}
	fmt.Fprintln(l.stdin)
	if code := l.wait(); code != 0 || strings.Count(l.stderr.String(), "refused a connection from 127.0.0.1") != 3 {
		t.Errorf("exit code %d, stderr %s; want three refusals", code, l.stderr)
	}
}

func TestLossOfTheCommandThatBroughtAnAgent(t *testing.T) {
	// The agent has a connection of its own, so that of ssh may break.
	l := startOnHosts(t, "a:1,b:1", "sh", "-c", `echo ready; read x; exec sleep 0.2`)
	l.line()
	l.line()
	killed := 0
	for _, p := range allProcesses() {
		if p.parent == l.cmd.Process.Pid {
			syscall.Kill(p.pid, syscall.SIGKILL)
			killed++
		}
	}
	if code := l.wait(); code != 0 || killed != 2 {
		t.Errorf("exit code %d after the end of %d commands, want 0 after 2; stderr %s", code, killed, l.stderr)
	}
}

func TestAgentForAUser(t *testing.T) {
	l := start(t, "agent")
	l.stdin.Close()
	if code := l.wait(); code == 0 || !strings.Contains(l.stderr.String(), "gaspi-run agent: an agent is started by gaspi-run") {
		t.Errorf("exit code %d, stderr %s", code, l.stderr)
	}
}

func TestManyRanksOnManyHosts(t *testing.T) {
	l := startOnHosts(t, "a:8,b:8,c:8,d:8", "sh", "-c", `i=0; while [ $i -lt 100 ]; do echo $GASPI_RANK line $i; i=$((i+1)); done`)
	next := map[string]int{}
	for range 32 * 100 {
		fields := strings.Fields(l.line())
		rank := strings.Trim(fields[0], "[]")
		if fields[1] != rank || fields[3] != strconv.Itoa(next[rank]) {
			t.Fatalf("%q, want line %d of rank %s", fields, next[rank], rank)
		}
		next[rank]++
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d; stderr %s", code, l.stderr)
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	low := testenv.FreePorts(t, 4)
	flags := []string{"-v", "--env", testenv.AsRole("barriers"), "--ports", fmt.Sprintf("%d-%d", low, low+3), self}
	l := startOnHosts(t, "a:2,b:1", flags...)
	l.pids(3)
	for port := low; port < low+4; port++ { // of three ranks and the launcher
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Errorf("nobody listens: %v", err)
			continue
		}
		conn.Close()
	}
	if code := l.wait(); code != 0 {
		t.Errorf("exit code %d; stderr %s", code, l.stderr)
	}
	flags[4] = fmt.Sprintf("%d-%d", low, low+2)
	l = startOnHosts(t, "a:2,b:1", flags...)
	want := fmt.Sprintf("all ports from %d to %d are in use: a wider range is --ports or GASPI_PORTS", low, low+2)
	if code := l.wait(); code != 1 || !strings.Contains(l.stderr.String(), want) {
		t.Errorf("exit code %d; want 1 and %q; stderr %s", code, want, l.stderr)
	}
	holder, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", low))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	l = startOnHosts(t, "a:1", "--ports", fmt.Sprint(low), "true")
	want = fmt.Sprintf("gaspi-run: listen for other hosts: all ports from %d to %d are in use: ", low, low)
	if code := l.wait(); code != 1 || !strings.HasPrefix(l.complaints(), want) {
		t.Errorf("exit code %d, stderr %q; want 1, %q", code, l.stderr, want)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// mapOf is what a command line would show.
func mapOf(t *testing.T, line ...string) []string {
	t.Helper()
	o, err := parse(line)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := o.showMap(&out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestMap(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	writeFile(t, program, "#!/bin/sh\n", 0o755)
	plan, err := launcher.MapJob(launcher.Config{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	cores := plan.Places[0].Cores
	own := intervals(cores)
	for _, c := range []struct {
		name, flags string
		want        []string // of which each line holds one
	}{
		{"here", "-n 3", []string{"3 ranks of ", "", "HOST", "this host 0-2 this process all of " + own, "", "two ranks of one host: shm", "a rank and itself: its own memory"}},
		{"one rank", "-n 1 --bind core", []string{"1 rank of ", "", "HOST", "this host 0 this process rank 0: " + intervals(cores[:1]), "", "a rank and itself: its own memory"}},
		{"forced", "-n 2 --env GASPI_TRANSPORT=tcp", []string{"2 ranks of ", "", "HOST", "this host 0-1", "", "two ranks of one host: tcp", "a rank and itself: its own memory"}},
		{"many", "--bind core --hosts localhost:4096,b:4096 --ssh sh --transport tcp", []string{"8192 ranks of ", "", "HOST",
			"localhost 0-4095 this process rank by rank, one of " + own, "b 4096-8191 sh rank by rank, one of those of that host", "",
			"two ranks of one host: tcp", "two ranks of different hosts: tcp", "a rank and itself: its own memory"}},
		{"emulated", "-n 2 --emulate latency=1ms,bandwidth=1GB/s", []string{"2 ranks of ", "", "HOST", "this host 0-1", "",
			"two ranks of one host: shm, as an emulated network", "a rank and itself: its own memory"}},
		{"a node", "--nnodes 3 --node-rank 1 --rendezvous a:1 --transport tcp -n 2 --key-file " + strings.ReplaceAll(writeKey(t, '1'), " ", "\u00a0"), []string{
			"node 1 of 3: 2 ranks of ", "", "HOST", "this host 2, after those of the nodes before this process all of " + own,
			"the other 2 as many as each says with -n their own gaspi-run -", "", "two ranks of one host: tcp", "two ranks of different hosts: tcp", "a rank and itself: its own memory"}},
	} {
		got := mapOf(t, append(splitLine(c.flags), program)...)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d lines, want %d:\n%s", c.name, len(got), len(c.want), strings.Join(got, "\n"))
			continue
		}
		for i := range got {
			if line := strings.Join(strings.Fields(got[i]), " "); !strings.HasPrefix(line, c.want[i]) || (line == "") != (c.want[i] == "") {
				t.Errorf("%s, line %d: %q, want %q", c.name, i, line, c.want[i])
			}
		}
	}
}

func TestIntervals(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "3": {3}, "0-1": {0, 1}, "0-2,4,7-8": {0, 1, 2, 4, 7, 8}} {
		if got := intervals(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

func TestDryRunStartsNothing(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	script := "#!/bin/sh\ntouch '" + mark + "'\nexit 3\n"
	writeFile(t, filepath.Join(dir, "program"), script, 0o755)
	env := sshInPath(t, script)
	for _, flags := range [][]string{{"-n", "2"}, {"--hosts", "a,b"}, {"--output", "dir:" + mark}} {
		args := append(append([]string{"--dry-run"}, flags...), filepath.Join(dir, "program"))
		l := startIn(t, env, gaspiRun, args...)
		if code := l.wait(); code != 0 || l.stderr.String() != "" {
			t.Errorf("%q: exit code %d, stderr %q", flags, code, l.stderr)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%q: something was started", flags)
		}
	}
	checkRefusal(t, start(t, "--dry-run", "--hosts", "a", "--ssh", "/nowhere/ssh", "true"), exitFailed, `host a: exec: "/nowhere/ssh": stat /nowhere/ssh: no such file or directory`)
	checkRefusal(t, start(t, "--dry-run", "--hosts", "a", "--interface", "10.255.255.0/32", "true"), exitFailed,
		strings.TrimPrefix(interfaceError(t, "10.255.255.0/32"), "gaspi-run: "))
}

// interfaceError is the sentence of a real run, without where it comes from.
func interfaceError(t *testing.T, spec string) string {
	t.Helper()
	l := startOnHosts(t, "a:1", "--interface", spec, "true")
	l.wait()
	return strings.TrimSuffix(strings.Replace(l.stderr.String(), "listen for other hosts: ", "", 1), "\n")
}

func TestDisplayMap(t *testing.T) {
	l := start(t, "-n", "2", "--display-map", "sh", "-c", "echo $GASPI_RANK")
	got := map[string]bool{l.line(): true, l.line(): true}
	if d := cmp.Diff(map[string]bool{"[0] 0": true, "[1] 1": true}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if code := l.wait(); code != 0 || !strings.HasPrefix(l.stderr.String(), "2 ranks of ") {
		t.Errorf("exit code %d, stderr %q", code, l.stderr)
	}
}

// A package is named in a map as the command line names it.
func TestMapNamesPackages(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "ring.go"), "package main\n", 0o644)
	t.Chdir(dir)
	for given, want := range map[string]string{"ring.go": "ring.go", "./ring.go": "ring.go", filepath.Join(dir, "ring.go"): filepath.Join(dir, "ring.go"), ".": "."} {
		m, err := launcher.MapJob(launcher.Config{Program: given})
		if err != nil || m.Program != want || !m.Package {
			t.Errorf("%s: %q, %v, want %q", given, m.Program, err, want)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestFigureRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no name", []string{"figure"}, "no figure was named; gaspi-bench figure --list names them"},
		{"two names", []string{"figure", "pipelined-1", "pipelined-2"}, `unexpected argument "pipelined-2"`},
		{"a way", []string{"figure", "pipelined-1", "--way", "dreamt"}, `--way: "dreamt": expected simulated, emulated or raw`},
		{"no time", []string{"figure", "pipelined-1", "--time", "0s"}, "--time 0s"},
		{"no rounds", []string{"figure", "pipelined-1", "--rounds", "0"}, "--rounds 0: expected at least 1"},
		{"a list of one", []string{"figure", "--list", "pipelined-1"}, `unexpected argument "pipelined-1"`},
		{"a report of one", []string{"report", "pipelined-1"}, `unexpected argument "pipelined-1"`},
		{"no library", []string{"report", "--peer", "libfabric"}, `--peer "libfabric": expected a list of openmpi, mpich`},
		{"nearly a flag", []string{"report", "--qick"}, "unknown flag: --qick: is it --quick?; see gaspi-bench report --help"},
		{"nearly a figure", []string{"figure", "hoplite5"}, `unknown figure "hoplite5": is it hoplite-5?`},
		{"an unknown flag", []string{"report", "--svg", "x"}, "unknown flag: --svg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, code := gaspiBench(t, c.args...)
			if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, %q, %q; want one sentence with %q", code, stdout, stderr, c.want)
			}
		})
	}
}

func TestFigureList(t *testing.T) {
	stdout, stderr, code := gaspiBench(t, "figure", "--list")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	for _, name := range []string{"pipelined-1 ", "pipelined-table-1 ", "eventual-13 ", "gloo-table ", "hoplite-directory ", "hoplite-5 ", "hoplite-8 ", "pipelined-8 ", "pipelined-11 ", "pipelined-12 "} {
		if !strings.Contains(stdout, "\n"+name) && !strings.HasPrefix(stdout, name) {
			t.Errorf("%s is not in the list:\n%s", name, stdout)
		}
	}
}

func TestFigureUnknown(t *testing.T) {
	_, stderr, code := gaspiBench(t, "figure", "pipelined-99")
	if code != exitUsage || !strings.Contains(stderr, `unknown figure "pipelined-99"; choose one of pipelined-table-1,`) {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestFigureSimulated(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, code := gaspiBench(t, "figure", "pipelined-4", "--way", "simulated", "--quick", "--svg", filepath.Join(dir, "f.svg"))
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	if !strings.Contains(stdout, "holds: part of the ring's time that is arithmetic") || !strings.Contains(stdout, "drawn: "+filepath.Join(dir, "f-simulated.svg")) {
		t.Errorf("printed\n%s", stdout)
	}
	svg, err := os.ReadFile(filepath.Join(dir, "f-simulated.svg"))
	if err != nil || !strings.Contains(string(svg), "</svg>") {
		t.Errorf("the drawing is %d bytes, %v", len(svg), err)
	}
}

// Goal: figures are measured by ranks of their own.
func TestFigureRaw(t *testing.T) {
	stdout, stderr, code := gaspiBench(t, "figure", "pipelined-7", "--way", "raw", "--quick", "--time", "1ms", "--svg", filepath.Join(t.TempDir(), "f.svg"))
	if code != 0 || stderr != "" || strings.Contains(stdout, "raw: not measured") || !strings.Contains(stdout, "four segments make reduce-scatter faster for large vectors; paper about +100 MB/s, accepted at least 1.05x, raw ") {
		t.Errorf("exit code %d, %s\n%s", code, stderr, stdout)
	}
}

// Goal: a figure of which nothing could be measured ends with a sentence and exit code 1.
func TestFigureOfNothing(t *testing.T) {
	_, stderr, code := gaspiBench(t, "figure", "pipelined-11", "--svg", filepath.Join(t.TempDir(), "f.svg"))
	if code != exitFailed || !strings.Contains(stderr, "nothing was measured: it is measured beside a library of MPI; add --peer mpich") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// outside is what a page must not need.
var outside = regexp.MustCompile(`(?i)(src|href)\s*=\s*"(https?:|//|[a-z0-9./-]+\.(js|css|png|svg))|@import|url\(`)

// Goal: the page is complete without a network, and has every figure.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates every figure: the race detector has nothing to see, and takes a minute")
	}
	file := filepath.Join(t.TempDir(), "r.html")
	stdout, _, code := gaspiBench(t, "report", "--way", "simulated", "--quick", "--out", file)
	if code != 0 || !strings.Contains(stdout, file) || !strings.Contains(stdout, "verdicts: ") {
		t.Fatalf("exit code %d, %s", code, stdout)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if bad := outside.FindString(page); bad != "" {
		t.Errorf("the page needs %s", bad)
	}
	for _, want := range []string{"<!DOCTYPE html>", `id="pipelined-3"`, `id="eventual-12"`, `id="gloo-table"`, `id="hoplite-6"`, "<svg", "currentColor", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v; want the page alone", len(left), err)
	}
}

func TestReportUnwritable(t *testing.T) {
	none, dir := filepath.Join(t.TempDir(), "none", "r.html"), t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", "--out", none}, "gaspi-bench: --out " + none + ": no such file or directory; name a file that can be written\n"},
		{[]string{"report", "--out", dir}, "gaspi-bench: --out " + dir + ": it is a directory; name a file in it\n"},
		{[]string{"figure", "pipelined-4", "--svg", none}, "gaspi-bench: --svg " + none + ": no such file or directory; name a file that can be written\n"},
		{[]string{"figure", "pipelined-4", "--svg", dir}, "gaspi-bench: --svg " + dir + ": it is a directory; name a file in it\n"},
	} {
		if stdout, stderr, code := gaspiBench(t, c.args...); code != exitFailed || stderr != c.want || stdout != "" {
			t.Errorf("%v: exit code %d, %q, want %q; printed %q", c.args, code, stderr, c.want, stdout)
		}
	}
}

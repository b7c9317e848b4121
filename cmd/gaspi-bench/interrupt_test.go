package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// interrupted runs the command until it has printed a line that has a word, interrupts it,
// and returns what it printed and its exit code. The line is one of its standard error if
// errs is true.
func interrupted(t *testing.T, word string, errs bool, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := benchCommand(t, args)
	var out, other bytes.Buffer
	var pipe io.Reader
	var err error
	if errs {
		cmd.Stdout = &other
		pipe, err = cmd.StderrPipe()
	} else {
		cmd.Stderr = &other
		pipe, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	told := false
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		out.WriteString(lines.Text() + "\n")
		if !told && strings.Contains(lines.Text(), word) {
			told = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || !told {
		t.Errorf("gaspi-bench %v ended well, or never printed %q:\n%s%s", args, word, &out, &other)
	}
	if errs {
		return other.String(), testenv.Complaints(out.String()), cmd.ProcessState.ExitCode()
	}
	return out.String(), testenv.Complaints(other.String()), cmd.ProcessState.ExitCode()
}

// Goal: an interrupt leaves the rows that were measured, in every form that was asked for.
func TestInterruptKeepsRows(t *testing.T) {
	for _, c := range []struct {
		transport string
		code      int
		said      string
	}{
		{"shm", 128 + 2, "gaspi-bench: "}, // the parent of the ranks says that a signal ended them
		{"loopback", exitFailed, "gaspi-bench: interrupted; shown is what was measured until then\n"},
	} {
		t.Run(c.transport, func(t *testing.T) {
			dir := t.TempDir()
			rows, plot := filepath.Join(dir, "rows.json"), filepath.Join(dir, "rows.svg")
			_, stderr, code := interrupted(t, "delivery", false, "latency", "--transport", c.transport, "--sizes", "8:1MiB", "--time", "60ms", "--json", rows, "--plot", plot)
			if code != c.code || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, c.said) {
				t.Errorf("exit code %d, said %q; want %d and %q", code, stderr, c.code, c.said)
			}
			data, err := os.ReadFile(rows)
			const all = 18 * 2 * 2 // sizes, operations, contenders
			if n := strings.Count(string(data), "\n"); err != nil || n < 4 || n >= all {
				t.Errorf("%d rows, %v; want at least 4 and not all %d:\n%s", n, err, all, data)
			}
			if drawn, err := os.ReadFile(plot); err != nil || !strings.HasSuffix(strings.TrimSpace(string(drawn)), "</svg>") {
				t.Errorf("the drawing has %d bytes, %v", len(drawn), err)
			}
		})
	}
}

// Goal: a rank whose peer was interrupted first has been interrupted, too, and not failed.
func TestTheSignalComesAfterTheEndOfAPeer(t *testing.T) {
	gone, other := error(&gaspi.RankError{Rank: 1, Reason: "it left the job"}), errors.New("something else")
	signalled, stop := context.WithCancel(t.Context())
	stop()
	soon, stopSoon := context.WithCancel(t.Context())
	defer stopSoon()
	for _, c := range []struct {
		name      string
		ctx       context.Context
		err, want error
	}{
		{"a signal before", signalled, gone, errInterrupted},
		{"a signal after", soon, fmt.Errorf("latency: %w", gone), errInterrupted},
		{"a signal and no failure", signalled, nil, errInterrupted},
		{"no signal", t.Context(), gone, gone},
		{"a failure of its own", t.Context(), other, other},
		{"no failure", t.Context(), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == soon {
				go stopSoon()
			}
			if got := endOfRank(c.ctx, c.err); got != c.want {
				t.Errorf("ended with %v, want %v", got, c.want)
			}
		})
	}
}

// Goal: a report that is interrupted has the figures that were made, and says so.
func TestInterruptedReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.html")
	_, stderr, code := interrupted(t, " s", true, "report", "--way", "simulated", "--quick", "--out", file)
	if code != exitFailed || !strings.Contains(stderr, "\ngaspi-bench: interrupted; "+file+" has ") {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<p>Not complete: it was interrupted, and has ", `id="pipelined-table-1"`, "</html>"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(string(page), `id="hoplite-8"`) {
		t.Error("the page has the last figure")
	}
}

// Goal: a command that could measure nothing has failed, and says why.
func TestNothingIsMeasured(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"a limit that there is not", []string{"barrier", "--transport", "tcp", "--side", "limit", "--time", "1ms"},
			"gaspi-bench: nothing was measured: barrier of 2 ranks over tcp has no row of --side limit; drop the flag\n"},
		{"in one process", []string{"latency", "--transport", "loopback", "--emulate", "latency=1us,bandwidth=1GB/s", "--side", "limit", "--time", "1ms"},
			"has no row of --side limit; drop the flag\n"},
		{"a way that there is not", []string{"figure", "gloo-table", "--way", "raw"},
			"gaspi-bench: nothing was measured: gloo-table is made in no such way; choose from simulated by --way\n"},
		{"a program that there is not", []string{"figure", "eventual-6", "--way", "raw"},
			"gaspi-bench: nothing was measured: it needs the program mfsgd beside gaspi-bench or in PATH (go install github.com/gaspi-go/gaspi-go/examples/mfsgd@latest), or Go in a clone of the project: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			_, stderr, code := gaspiBench(t, c.args...)
			if code != exitFailed || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, said %q; want %d and %q", code, stderr, exitFailed, c.want)
			}
		})
	}
}

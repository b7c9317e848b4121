package launcher

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestMain makes a process an agent that the launcher has started, which is this program again
// with the argument "agent", as gaspi-run is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		os.Exit(RunAgent(os.Stdin, os.Stderr, strings.Join(os.Args[2:], ""), nil))
	}
	testenv.Main(testenv.Waiting{M: m}, roles())
}

// A capture is a place for output that many goroutines write to.
type capture struct {
	mu   sync.Mutex
	text bytes.Buffer
	seen func(string) // called with everything so far after each write; may be nil
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(p)
	if c.seen != nil {
		c.seen(c.text.String())
	}
	return len(p), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// An outcome is everything that a finished job has shown.
type outcome struct {
	Result
	stdout, stderr string
	told           string // all notices, one on each line
	notice         string // those that say more than that something takes long
}

// runJob runs cfg with its output captured. A job that hangs fails the test.
func runJob(t *testing.T, cfg Config) (outcome, error) {
	t.Helper()
	var stdout, stderr capture
	var o outcome
	if cfg.Stdout == nil {
		cfg.Stdout = &stdout
	}
	cfg.Stderr = &stderr
	cfg.Notice = func(s string) { o.told += s + "\n" }
	cfg.Log = func(line string) {
		if strings.Contains(line, "DATA RACE") || strings.Contains(line, "panic:") {
			t.Errorf("an agent says: %s", line)
		}
	}
	ctx := testenv.Context(t)
	result, err := Run(ctx, cfg)
	if ctx.Err() != nil {
		t.Fatalf("the job does not end: %+v\n%s%s", result, &stdout, &stderr)
	}
	o.Result, o.stdout, o.stderr, o.notice = result, stdout.String(), stderr.String(), testenv.Complaints(o.told)
	return o, err
}

// role is a job of this test binary.
func role(name string, ranks int, args ...string) Config {
	return Config{Program: "/proc/self/exe", Args: args, Ranks: ranks, Env: []string{testenv.AsRole(name)}}
}

// shell is a job of a shell script.
func shell(ranks int, script string) Config {
	return Config{Program: "sh", Args: []string{"-c", script}, Ranks: ranks}
}

// linesOf returns the lines of text that rank r printed, without their label.
func linesOf(text string, r int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, fmt.Sprintf("[%d] ", r)); ok {
			lines = append(lines, strings.TrimSuffix(rest, "\n"))
		}
	}
	return lines
}

// number reads one that a rank has printed.
func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

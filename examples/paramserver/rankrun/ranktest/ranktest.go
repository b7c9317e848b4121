// Package ranktest starts a program of package rankrun as its own test does: as the ranks of
// a job, each a process of the test binary. Tests of those programs import it, and nobody else.
package ranktest

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// asRank makes the test binary the program itself.
const asRank = "RANKTEST_AS_RANK"

// IsRank reports whether this process is a rank that Launch has started. TestMain then calls
// the program's main in place of its tests.
func IsRank() bool { return os.Getenv(asRank) != "" }

// A Launch is a program started as a job.
type Launch struct {
	Ranks int
	Args  string // of the program, separated by spaces
	JSON  string // path of the report, for the flag --json; may have spaces
	// Env is added to the environment of the ranks.
	Env []string
	// OnFailure is what a rank's failure means for the others.
	OnFailure launcher.OnFailure
	// Tee is also given what the ranks print; nil if nobody else wants it.
	Tee io.Writer
}

// limit is the time after which a job is taken to hang.
const limit = time.Minute

// Run runs the job as gaspi-run does, and returns its exit code and what was printed. It fails
// the test if the job could not be started.
func (l Launch) Run(t *testing.T) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := strings.Fields(l.Args)
	if l.JSON != "" {
		args = append(args, "--json", l.JSON)
	}
	var to io.Writer = &out
	if l.Tee != nil {
		to = io.MultiWriter(&out, l.Tee)
	}
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: self, Args: args, Ranks: l.Ranks, Env: append([]string{asRank + "=1"}, l.Env...),
		Stdout: to, Stderr: &errs, OnFailure: l.OnFailure, Timeout: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.ExitCode, out.String(), errs.String()
}

// A Refusal is a command line, and what is said of it.
type Refusal [2]string

// ParseRefuses expects parse to refuse each command line in words that contain what is wanted.
func ParseRefuses(t *testing.T, parse func(args []string) error, cases []Refusal) {
	t.Helper()
	for _, c := range cases {
		if err := parse(strings.Fields(c[0])); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
	}
}

// ProgramRefuses expects a job of the program to end with an exit code and one sentence,
// which contains what is wanted, and to print nothing else.
func ProgramRefuses(t *testing.T, name string, code int, c Refusal) {
	t.Helper()
	got, stdout, stderr := Launch{Ranks: 3, Args: c[0]}.Run(t)
	if got != code || stdout != "" || strings.Count(stderr, name+": ") != 1 || !strings.Contains(stderr, c[1]) {
		t.Errorf("%s: exit code %d, want %d and one sentence with %q\n%s%s", c[0], got, code, c[1], stdout, stderr)
	}
}

// HelpNames expects a help text to name each flag, and to fit a terminal.
func HelpNames(t *testing.T, text string, flags ...string) {
	t.Helper()
	flags = append(flags, "first", "naive", "workers", "seed", "chunk", "emulate", "json")
	for _, name := range flags {
		if !strings.Contains(text, "--"+name) {
			t.Errorf("--%s is not explained", name)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 90 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
}

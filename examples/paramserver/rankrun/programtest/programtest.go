// Package programtest tests programs of package rankrun: their command lines, what they refuse
// as the ranks of a job, and their help. Tests of those programs import it, and nobody else.
package programtest

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Role is the role in which the test program is the program itself.
const Role = "program"

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
	o := ranktest.Run(t, launcher.Config{Ranks: 3, Args: strings.Fields(c[0])}, Role)
	if o.ExitCode != code || o.Stdout != "" || strings.Count(o.Stderr, name+": ") != 1 || !strings.Contains(o.Stderr, c[1]) {
		t.Errorf("%s: exit code %d, want %d and one sentence with %q\n%s%s", c[0], o.ExitCode, code, c[1], o.Stdout, o.Stderr)
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

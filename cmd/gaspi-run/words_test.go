package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestCompletion asks each shell itself for the last word of a line.
func TestCompletion(t *testing.T) {
	for _, shell := range testenv.Shells {
		t.Run(shell, func(t *testing.T) {
			var script strings.Builder
			if err := complete([]string{shell}, &script); err != nil {
				t.Fatal(err)
			}
			for _, f := range typedFlags() {
				if !strings.Contains(script.String(), f.name) {
					t.Errorf("no --%s", f.name)
				}
			}
			testenv.NeedShell(t, shell)
			for _, c := range []struct {
				line string
				want []string
			}{
				{"--hos", []string{"--hostfile", "--hosts"}},
				{"-n 4 --hos", []string{"--hostfile", "--hosts"}},
				{"-n 4 --bind c", []string{"core"}},
				{"--transport ", []string{"auto", "rdma", "shm", "tcp"}},
				{"--tls --on-f", []string{"--on-failure"}},
				{"completion z", []string{"zsh"}},
				{"completion zsh ", nil},
				{"-n 2 ./prog --hos", nil},
			} {
				got := testenv.Offered(t, shell, script.String(), "gaspi-run "+c.line)
				if c.want == nil { // files
					got = slices.DeleteFunc(got, func(s string) bool { return s == "script" || s == "inner" || s == "offered" })
				}
				if d := cmp.Diff(c.want, got, cmp.Transformer("nil", func(s []string) string { return strings.Join(s, " ") })); d != "" {
					t.Errorf("%q (-want +got):\n%s", c.line, d)
				}
			}
			// Programs of this host may begin so too.
			if got := testenv.Offered(t, shell, script.String(), "gaspi-run compl"); !slices.Contains(got, "completion") {
				t.Errorf("%q is offered for compl", got)
			}
		})
	}
}

// Goal: words that start no ranks give help when they are asked for it, and a job that is not there is no mistake in flags.
// Method: each word with each spelling of help, also behind flags; programs of other names get these arguments themselves.
func TestHelpOfWords(t *testing.T) {
	for word := range strings.FieldsSeq(firstWords()) {
		for _, ask := range []string{"--help", "-h"} {
			var text strings.Builder
			if done, err := general([]string{word, ask}, &text); !done || err != nil || text.String() != help() {
				t.Errorf("%s %s: %t, %v, %.80q", word, ask, done, err, &text)
			}
		}
	}
	var text strings.Builder
	if err := info([]string{"--hosts", "a:2", "--help"}, &text); err != nil || text.String() != help() {
		t.Errorf("info behind flags: %v, %.80q", err, &text)
	}
	if done, err := general([]string{"echo", "--help"}, &text); done || err != nil {
		t.Errorf("a program: %t, %v", done, err)
	}
	l := start(t, "-n", "1", "echo", "--no-help")
	if line := l.line(); line != "[0] --no-help" {
		t.Errorf("echo says %q", line)
	}
	l.wait()
	const nobody = "no-such-job"
	checkRefusal(t, start(t, psWord, nobody), exitFailed, `ps: this user runs no job "`+nobody+`" from this host`)
}

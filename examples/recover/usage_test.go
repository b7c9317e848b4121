package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestCommandLine: --help starts no job, and what the program does not know is refused.
func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args       string
		code       int
		want, errs string
	}{
		{"--help", 0, "--work duration", ""},
		{"again", 2, "", `recover: unexpected argument "again"; everything is said with flags; see recover --help` + "\n"},
		{"--steps many", 2, "", `recover: invalid argument "many" for "--steps" flag: strconv.ParseInt: parsing "many": invalid syntax; see recover --help` + "\n"},
		{"--work -1s", 2, "", "recover: --steps 300, --work -1s: expected 0 or more; see recover --help\n"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := testenv.Command(t.Context(), program)
		cmd.Args = append(cmd.Args, strings.Fields(c.args)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // its code is looked at
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(stdout.String(), c.want) ||
			(c.want == "") != (stdout.Len() == 0) || stderr.String() != c.errs {
			t.Errorf("%s: code %d\n%s%s", c.args, code, stdout.String(), stderr.String())
		}
	}
}

// Goal: a help or a result that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "--steps 3 --work 0s"} {
		cmd := testenv.Command(t.Context(), program)
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		stderr, code := testenv.OnFullDisk(t, cmd)
		if code != 1 || stderr != "recover: write /dev/stdout: no space left on device\n" {
			t.Errorf("%q: code %d, said %q; want 1 and one sentence", args, code, stderr)
		}
	}
}

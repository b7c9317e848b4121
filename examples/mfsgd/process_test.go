package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const role = "program" // the role in which the test program is the example itself

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{role: testenv.Program(main)})
}

func TestProcessesFactorize(t *testing.T) {
	dir := t.TempDir()
	saved, drawn := filepath.Join(dir, "run.json"), filepath.Join(dir, "run.svg")
	args := []string{"--ratings", "testdata/ratings.csv", "--rank", "4", "--slack", "0,2", "--iterations", "20", "--json", saved, "--plot", drawn}
	o := ranktest.Run(t, launcher.Config{Ranks: 4, Args: args}, role)
	if o.ExitCode != 0 || o.Stderr != "" {
		t.Fatalf("exit code %d\n%s%s", o.ExitCode, o.Stdout, o.Stderr)
	}
	for line := range strings.Lines(o.Stdout) {
		if !strings.HasPrefix(line, "[0] ") {
			t.Errorf("another rank than 0 prints: %s", line)
		}
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Ranks int }
	if err := json.Unmarshal(text, &doc); err != nil || doc.Ranks != 4 {
		t.Errorf("%v: the file says %d ranks, want 4", err, doc.Ranks)
	}
	if svg, err := os.ReadFile(drawn); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%v: no drawing", err)
	}
}

func TestProcessesRefuseBadInput(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "ratings.csv")
	if err := os.WriteFile(bad, []byte("userId,movieId,rating,timestamp\n1,1,4.0,9\n1,2,9.5,9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no file", []string{"--ratings", filepath.Join(dir, "none.csv")}, program.ExitFailed, `none.csv": no such file or directory`},
		{"off the scale", []string{"--ratings", bad}, program.ExitFailed, `ratings.csv:3: rating "9.5" is not on the scale`},
		{"more ranks than users", []string{"--synthetic", "2x20x20"}, program.ExitFailed, "too few for 4 ranks"},
		{"negative slack", []string{"--slack", "-1"}, program.ExitUsage, `"-1" is no slack`},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := filepath.Join(dir, "left.json")
			o := ranktest.Run(t, launcher.Config{Ranks: 4, Args: append(c.args, "--json", left)}, role)
			if o.ExitCode != c.code || o.Stdout != "" {
				t.Errorf("exit code %d, want %d\n%s", o.ExitCode, c.code, o.Stdout)
			}
			if strings.Count(o.Stderr, "mfsgd: ") != 1 || !strings.Contains(o.Stderr, c.want) {
				t.Errorf("want one sentence with %q, got\n%s", c.want, o.Stderr)
			}
			if _, err := os.Stat(left); err == nil {
				t.Error("a file of results was left behind")
			}
		})
	}
}

// Goal: a help or a result that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "--synthetic 80x40x1000 --iterations 2"} {
		cmd := testenv.Command(t.Context(), role)
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		stderr, code := testenv.OnFullDisk(t, cmd)
		if code != 1 || !strings.HasSuffix(stderr, "write /dev/stdout: no space left on device\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, said %q; want 1 and one sentence", args, code, stderr)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// asRank makes the test program the example itself.
const asRank = "MFSGD_TEST_AS_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		main()
	}
	os.Exit(m.Run())
}

// launch runs the program on n processes, as gaspi-run does.
func launch(t *testing.T, n int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: self, Args: args, Ranks: n, Env: []string{asRank + "=1"}, Stdout: &out, Stderr: &errs,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.ExitCode, out.String(), errs.String()
}

func TestProcessesFactorize(t *testing.T) {
	dir := t.TempDir()
	saved, drawn := filepath.Join(dir, "run.json"), filepath.Join(dir, "run.svg")
	code, stdout, stderr := launch(t, 4, "--ratings", "testdata/ratings.csv", "--rank", "4", "--slack", "0,2",
		"--iterations", "20", "--json", saved, "--plot", drawn)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
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
		{"no file", []string{"--ratings", filepath.Join(dir, "none.csv")}, exitFailed, "none.csv does not exist"},
		{"off the scale", []string{"--ratings", bad}, exitFailed, `ratings.csv:3: rating "9.5" is not on the scale`},
		{"more ranks than users", []string{"--synthetic", "2x20x20"}, exitFailed, "too few for 4 ranks"},
		{"negative slack", []string{"--slack", "-1"}, exitUsage, `"-1" is no slack`},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := filepath.Join(dir, "left.json")
			code, stdout, stderr := launch(t, 4, append(c.args, "--json", left)...)
			if code != c.code || stdout != "" {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, stdout)
			}
			if strings.Count(stderr, "mfsgd: ") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("want one sentence with %q, got\n%s", c.want, stderr)
			}
			if _, err := os.Stat(left); err == nil {
				t.Error("a file of results was left behind")
			}
		})
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/mfsgd/internal/mf"
	"github.com/google/go-cmp/cmp"
)

// play shows n iterations of the given length and returns what was written.
func play(p *progressLine, n int, each time.Duration) string {
	var out strings.Builder
	p.out = &out
	var samples []mf.Sample
	for i := range n {
		s := mf.Sample{Elapsed: time.Duration(i+1) * each, RMSE: 1 - float64(i)/float64(2*n)}
		samples = append(samples, s)
		p.observe(i+1, s)
	}
	p.finish(samples)
	return out.String()
}

func TestProgressPlain(t *testing.T) {
	p := &progressLine{plan: mf.RunOptions{Iterations: 100, Slack: 2}}
	const want = `slack 2  iteration   1/100  held-out RMSE 1.0000  25.0 iterations/s  4 s left
slack 2  iteration  26/100  held-out RMSE 0.8750  25.0 iterations/s  3 s left
slack 2  iteration  51/100  held-out RMSE 0.7500  25.0 iterations/s  2 s left
slack 2  iteration  76/100  held-out RMSE 0.6250  25.0 iterations/s  1 s left
slack 2  iteration 100/100  held-out RMSE 0.5050  25.0 iterations/s  0 s left
`
	if diff := cmp.Diff(want, play(p, 100, 40*time.Millisecond)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestProgressIsBounded runs for a day: no log file drowns.
func TestProgressIsBounded(t *testing.T) {
	p := &progressLine{plan: mf.RunOptions{Iterations: 86_400}}
	if lines := strings.Count(play(p, 86_400, time.Second), "\n"); lines < 50 || lines > 300 {
		t.Errorf("%d lines in a day, want some hundred", lines)
	}
}

func TestProgressTarget(t *testing.T) {
	p := &progressLine{plan: mf.RunOptions{Iterations: 2000, UntilRMSE: 0.8}}
	const want = "slack 0  iteration    1  held-out RMSE 1.0000, to reach 0.8  2.0 iterations/s\n"
	if diff := cmp.Diff(want, play(p, 1, 500*time.Millisecond)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestProgressTerminal sees one line that is rewritten, never wider than the
// terminal, with nothing of a longer one left, and ended once.
func TestProgressTerminal(t *testing.T) {
	p := &progressLine{tty: true, width: 50, plan: mf.RunOptions{Iterations: 30}}
	got := play(p, 30, 100*time.Second)
	if strings.Count(got, "\n") != 1 || !strings.HasSuffix(got, "\n") {
		t.Errorf("not ended once: %q", got)
	}
	drawn := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n"), "\r") {
		if line == "" {
			continue
		}
		if len(line) >= 50 {
			t.Errorf("wider than the terminal: %q", line)
		}
		if len(line) < drawn {
			t.Errorf("%q leaves the end of a line of %d", line, drawn)
		}
		drawn = len(strings.TrimRight(line, " "))
	}
}

func TestTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tests := []struct {
		name, tty, width string
		want             bool
		columns          int
	}{
		{"a file", "", "", false, 0},
		{"a terminal at the launcher", "1", "92", true, 92},
		{"a terminal of unknown width", "1", "", true, 0},
		{"a file at the launcher", "0", "", false, 0},
	}
	for _, tt := range tests {
		env := map[string]string{"GASPI_OUTPUT_TTY": tt.tty, "GASPI_OUTPUT_WIDTH": tt.width}
		tty, width, err := terminal(file, func(name string) string { return env[name] })
		if err != nil || tty != tt.want || width != tt.columns {
			t.Errorf("%s: %v, %d columns, %v; want %v, %d", tt.name, tty, width, err, tt.want, tt.columns)
		}
	}
	for _, name := range []string{"GASPI_OUTPUT_TTY", "GASPI_OUTPUT_WIDTH"} {
		for _, value := range []string{"nonsense", "-1", "1.5", " 1", "\u00e9", "a\nb", strings.Repeat("9", 1000)} {
			_, _, err := terminal(file, func(asked string) string { return map[string]string{name: value}[asked] })
			if want := fmt.Sprintf("%s=%.80q: expected ", name, value); err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 300 {
				t.Errorf("%s=%.40q: %v, want an error with %q", name, value, err, want)
			}
		}
	}
}

func TestRoundLeft(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Millisecond: "0 s", 12 * time.Second: "12 s", 95 * time.Second: "2m", 3*time.Hour + 10*time.Minute: "3h10m",
	} {
		if got := roundLeft(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

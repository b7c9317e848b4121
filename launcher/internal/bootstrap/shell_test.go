package bootstrap

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShellLine(t *testing.T) {
	words := []string{"plain", "", "a b", "it's", `"`, "$HOME", "*", "new\nline", `\`, "-n", "a;b", "~", "#x", "ünï"}
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+shellLine(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := shellLine([]string{"ssh", "-p", "22", "a_b@c.d:/x"}); got != "ssh -p 22 a_b@c.d:/x" {
		t.Errorf("%s", got)
	}
}

func TestStageScript(t *testing.T) {
	agent := "#!/bin/sh\nread line\necho \"$0 $* $line\"\nexit 7\n"
	cases := []struct {
		name, input string
		code        int
		want        string
	}{
		{"whole", agent, 7, "DIR/gaspi-run agent x DIR config\n"},
		{"cut", agent[:10], 1, "the copy of gaspi-run is not complete\n"},
		{"nothing", "", 1, "the copy of gaspi-run is not complete\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			temp := filepath.Join(t.TempDir(), "with blank")
			if err := os.Mkdir(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			script := stageScript([]string{"agent", "x"}, len(agent))
			if strings.Contains(script, "'") {
				t.Errorf("a single quote in %s", script)
			}
			cmd := exec.Command("sh", "-c", script)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			cmd.Stdin = strings.NewReader("config\n" + c.input)
			out, _ := cmd.CombinedOutput()
			got := regexp.MustCompile(regexp.QuoteMeta(temp)+`/gaspi-run\.\w{8}`).ReplaceAllString(string(out), "DIR")
			if code := cmd.ProcessState.ExitCode(); code != c.code || got != c.want {
				t.Errorf("exit code %d, %q; want %d, %q", code, got, c.code, c.want)
			}
			if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
				t.Errorf("left behind: %v, %v", files, err)
			}
		})
	}
}

func TestLastLine(t *testing.T) {
	var told []string
	l := &lastLine{tell: func(line string) { told = append(told, line) }}
	fmt.Fprint(l, "Warning: one\ntw")
	fmt.Fprint(l, "o\r\n\n   \n")
	l.Write(bytes.Repeat([]byte("x"), 3*maxLastLine))
	if got := l.String(); got != strings.Repeat("x", maxLastLine) {
		t.Errorf("%d bytes, want %d of a long line", len(got), maxLastLine)
	}
	fmt.Fprint(l, "\n\xff\n")
	if got := l.String(); got != "?" {
		t.Errorf("%q", got)
	}
	if d := cmp.Diff([]string{"Warning: one", "two", strings.Repeat("x", maxLastLine), "?"}, told); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

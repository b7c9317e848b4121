package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Goal: --ssh is split as a shell splits it, and one that cannot be split is refused.
// Method: lines by hand, with what they mean; then random lines of the characters that matter, which /bin/sh reads as well.
func TestCommandWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
		err  string
	}{
		{line: "", want: nil},
		{line: " \t\n", want: nil},
		{line: "ssh -p 2222", want: []string{"ssh", "-p", "2222"}},
		{line: ` ssh -o "ProxyCommand=nc -X 5 %h %p" `, want: []string{"ssh", "-o", "ProxyCommand=nc -X 5 %h %p"}},
		{line: `'/my tools/ssh' -i ~/"my key"`, want: []string{"/my tools/ssh", "-i", "~/my key"}},
		{line: `a\ b c\\d \'`, want: []string{"a b", `c\d`, "'"}},
		{line: `"a\"b\$c\d" '\'`, want: []string{`a"b$c\d`, `\`}},
		{line: `'' ""`, want: []string{"", ""}},
		{line: "\xff ä\u00a0ö\\ü", want: []string{"\xff", "ä", "öü"}},
		{line: `ssh -o "a b`, err: `the quote " at byte 7 has no end`},
		{line: `ssh '`, err: "the quote ' at byte 4 has no end"},
		{line: `"a\"`, err: `the quote " at byte 0 has no end`},
		{line: `ssh \`, err: `nothing follows the \ at byte 4`},
	} {
		got, err := commandWords(c.line)
		if d := cmp.Diff(c.want, got); d != "" || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q: %v, want %s (-want +got):\n%s", c.line, err, c.err, d)
		}
	}

	seed := rand.Uint64()
	draw := rand.New(rand.NewPCG(seed, 0))
	var lines, script strings.Builder
	for range 500 {
		line := ""
		for range draw.IntN(12) {
			line += []string{"a", "b", " ", " ", "'", `"`, `\`, `\\`, "ä"}[draw.IntN(9)]
		}
		words, err := commandWords(line)
		if err != nil || strings.Contains(line, "\n") {
			continue
		}
		lines.WriteString(strings.Join(append(words, ""), "|") + "\n")
		script.WriteString("set -- " + line + "\nprintf '%s|' \"$@\"; echo\n")
	}
	told, err := exec.Command("/bin/sh", "-c", strings.ReplaceAll(script.String(), "printf '%s|' \"$@\"", "test $# = 0 || printf '%s|' \"$@\"")).Output()
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if d := cmp.Diff(string(told), lines.String()); d != "" {
		t.Errorf("seed %d: words of the shell, and ours (-want +got):\n%s", seed, d)
	}
}

// Goal: the command of --ssh gets its words as they are meant.
// Method: a script in a directory with blanks in its name, with an option that has one.
func TestCommandOfSSHHasBlanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my tools")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ntest \"$1\" = 'an option' || exit 1\nshift\n" + strings.TrimPrefix(fakeSSH, "#!/bin/sh\n")
	writeFile(t, filepath.Join(dir, "ssh"), script, 0o755)
	l := start(t, "--ssh", `"`+dir+`"/ssh 'an option'`, "--hosts", "b", "--interface", "127.0.0.1", "echo", "here")
	if line := l.line(); line != "[0] here" {
		t.Errorf("%q", line)
	}
	if code := l.wait(); code != 0 || l.complaints() != "" {
		t.Errorf("exit code %d, stderr %q", code, l.stderr)
	}
}

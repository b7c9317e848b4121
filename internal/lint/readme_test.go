package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// commandsOf returns the commands that .ci/bare finds in a README.
func commandsOf(t *testing.T, readme string) []string {
	t.Helper()
	out, err := exec.Command("bash", filepath.Join(loadModule(t).root, ".ci/bare"), "--commands", readme).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// TestReadmeHasTwoCommands: .ci/bare runs what the README says, in these words.
func TestReadmeHasTwoCommands(t *testing.T) {
	testenv.Need(t, "bash", "awk")
	got := commandsOf(t, filepath.Join(loadModule(t).root, "README.md"))
	if len(got) != 2 || !strings.HasPrefix(got[0], "go run ./cmd/gaspi-run ") || got[1] != "go test ./..." {
		t.Errorf("below the heading Two commands, the first block of code of README.md is %q; want a job by go run ./cmd/gaspi-run, and go test ./...", got)
	}
}

func TestCommandsOfAReadme(t *testing.T) {
	testenv.Need(t, "bash", "awk")
	for name, text := range map[string]string{
		"indented":    "# Title\n\n    other\n\n## Two commands\n\nText of\ntwo lines.\n\n    go run a\n    go test b\n\n## Next\n\n    more\n",
		"fenced":      "## Two commands\n\n```sh\ngo run a\ngo test b\n```\n\n```sh\nmore\n```\n",
		"with a line": "### Two commands\n```\ngo run a\n\ngo test b\n```\n    more\n",
		"at the end":  "## Two commands\n\n    go run a\n    go test b",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "README.md")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(commandsOf(t, file), ";"); got != "go run a;go test b" {
				t.Errorf("%q", got)
			}
		})
	}
}

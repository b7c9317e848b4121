package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestPackageInACheckoutThatGitDistrusts has a git that fails as the real one does where the
// checkout belongs to another user. The version of the checkout is asked for on demand alone.
func TestPackageInACheckoutThatGitDistrusts(t *testing.T) {
	dir := testenv.WriteTree(t, map[string]string{
		"go.mod":    "module example.test/m\n\ngo 1.21\n",
		"main.go":   "package main\n\nfunc main() { println(\"built\") }\n",
		".git/HEAD": "ref: refs/heads/main\n",
		"bin/git":   "#!/bin/sh\nexit 128\n",
	})
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(f string) bool { return strings.HasPrefix(f, "-buildvcs") })
	given := strings.Join(flags, " ") // other ones would have the standard library compiled again
	t.Setenv("GOFLAGS", given+" -mod=mod")
	if o, err := runJob(t, Config{Program: ".", Ranks: 1}); err != nil || o.ExitCode != 0 {
		t.Errorf("%v, %+v", err, o)
	}
	t.Setenv("GOFLAGS", given+" -buildvcs=true")
	if o, err := runJob(t, Config{Program: ".", Ranks: 1}); err == nil || !strings.Contains(o.stderr, "VCS status") {
		t.Errorf("%v, want what go says about the checkout; %+v", err, o)
	}
}

// Goal: a package that is not there, or whose module makes no sense, is one error that has the
// reason of the go command, which itself writes nothing.
func TestImportPathThatIsNotKnown(t *testing.T) {
	testenv.WriteTree(t, map[string]string{"go.mod": "module example.test/m\n\ngo 1.21\n", "broken/go.mod": "nonsense\n"})
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -mod=mod")
	t.Setenv("GOPROXY", "off")
	for _, c := range []struct{ dir, program, reason string }{
		{".", "fmt/nope", "package fmt/nope is not in std"},
		{".", "example.test/m/nope", "example.test/m/nope"},
		{"broken", "example.test/m/nope", "go.mod"},
	} {
		t.Chdir(c.dir)
		o, err := runJob(t, Config{Program: c.program, Ranks: 1})
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), c.reason) || strings.Contains(err.Error(), "\n") || o.stderr != "" {
			t.Errorf("%s in %s: %v, stderr %q; want ErrNotFound with %q in one line", c.program, c.dir, err, o.stderr, c.reason)
		}
	}
}

package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackageInACheckoutThatGitDistrusts has a git that fails as the real one does where the
// checkout belongs to another user. The version of the checkout is asked for on demand alone.
func TestPackageInACheckoutThatGitDistrusts(t *testing.T) {
	dir := writeTree(t, map[string]string{
		"go.mod":    "module example.test/m\n\ngo 1.21\n",
		"main.go":   "package main\n\nfunc main() { println(\"built\") }\n",
		".git/HEAD": "ref: refs/heads/main\n",
		"bin/git":   "#!/bin/sh\nexit 128\n",
	})
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("GOFLAGS", "-mod=mod")
	if o, err := runJob(t, Config{Program: ".", Ranks: 1}); err != nil || o.ExitCode != 0 {
		t.Errorf("%v, %+v", err, o)
	}
	t.Setenv("GOFLAGS", "-buildvcs=true")
	if o, err := runJob(t, Config{Program: ".", Ranks: 1}); err == nil || !strings.Contains(o.stderr, "VCS status") {
		t.Errorf("%v, want what go says about the checkout; %+v", err, o)
	}
}

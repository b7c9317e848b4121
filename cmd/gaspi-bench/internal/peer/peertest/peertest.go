// Package peertest makes a library of MPI out of shell scripts, for tests of how peers are
// measured.
package peertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Fake is Open MPI 9.8.7 made of shell scripts, the only thing in PATH.
type Fake struct{ Dir string }

// New makes a library whose launcher runs a script. In it, begin and end print the lines of
// a point, and points are the arguments that look like some. Compilations are lines of the
// file "compiled", launches with their points lines of "launched".
func New(t testing.TB, script string) Fake {
	t.Helper()
	f := Fake{t.TempDir()}
	f.Write(t, "mpicc.openmpi", `[ "$1" = --version ] && { echo fakecc 1.2; exit; }
echo "$@" >>"`+f.Dir+`/compiled"
while [ "$1" != -o ]; do shift; done
echo made >"$2"`)
	f.Write(t, "mpirun.openmpi", `[ "$1" = --version ] && { echo "mpirun (Open MPI) 9.8.7"; exit; }
i=0
begin() { echo "start $i"; }
end() { echo "times $i ${1:-2 100 300}"; i=$((i+1)); }
points=
for word; do case $word in *:*:*) points="$points$word ";; esac; done
echo "$points." >>"`+f.Dir+`/launched"
`+script)
	t.Setenv("PATH", f.Dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(f.Dir, "cache"))
	return f
}

// Steps is a script that measures all points, with the times of each, the number of
// operations of a block and then nanoseconds of blocks; empty stands for "2 100 300". The
// cases of the shell's $point in otherwise come first.
func Steps(times, otherwise string) string {
	return `for point in $points; do begin; case $point in ` + otherwise + ` esac; end "` + times + `"; done; echo done`
}

// Write makes a script.
func (f Fake) Write(t testing.TB, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Lines are those that scripts wrote to a file; nil if there is no such file.
func (f Fake) Lines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir, name))
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// fakeGo stands for the go command: it works in the temporary directory until it is
// interrupted. It leaves its own directory then, as the real one does while it loads packages.
const fakeGo = `#!/bin/sh
trap 'rm "$TMPDIR/work"; exit 1' INT
mkdir "${GOTMPDIR:-$TMPDIR}/go-build1"
touch "${GOTMPDIR:-$TMPDIR}/go-build1/file" "$TMPDIR/work"
echo building >&2
while :; do sleep 0.01; done
`

func TestInterruptedBuild(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			goInPath(t, fakeGo)
			t.Setenv("GOTMPDIR", "") // the directory that must stay empty is that of TMPDIR
			l := start(t, "-n", "2", ".")
			testenv.EventuallySucceeds(t, func() error {
				_, err := os.Stat(filepath.Join(l.temp, "work"))
				return err
			})
			l.signal(sig)
			testenv.EventuallySucceeds(t, func() error {
				if _, err := os.Stat(filepath.Join(l.temp, "work")); err == nil {
					return fmt.Errorf("the build goes on")
				}
				return nil
			})
			want := 128 + int(sig)
			if sig == syscall.SIGKILL {
				want = -9
			}
			if code := l.wait(); code != want {
				t.Errorf("exit code %d, want %d; stderr %s", code, want, l.stderr)
			}
		})
	}
}

// goInPath makes a script the go command.
func goInPath(t *testing.T, script string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// slowGo stands for a go command that says when it begins, and builds sleep once MARK is gone.
const slowGo = `#!/bin/sh
echo building >&2
while [ -e "$MARK" ]; do sleep 0.01; done
while [ "$1" != -o ]; do shift; done
cat "$(command -v sleep)" >"$2"
`

// Goal: a signal for the ranks that comes during the build reaches them. A rank that catches
// nothing ends by it.
func TestSignalDuringTheBuildReachesRanks(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(sig.String(), func(t *testing.T) {
			goInPath(t, slowGo)
			mark := filepath.Join(t.TempDir(), "mark")
			writeFile(t, mark, "", 0o600)
			t.Setenv("MARK", mark)
			l := start(t, "-n", "2", ".", "3")
			testenv.EventuallySucceeds(t, func() error {
				if !strings.Contains(l.stderr.String(), "building") {
					return fmt.Errorf("the build has not begun")
				}
				return nil
			})
			l.signal(sig)
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
			if code := l.wait(); code != 128+int(sig) {
				t.Errorf("exit code %d, want %d; stderr %s", code, 128+int(sig), l.stderr)
			}
		})
	}
}

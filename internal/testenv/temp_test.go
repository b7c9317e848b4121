package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// insideEnv makes TestTemporaryDirectories the test that is run in a namespace.
const insideEnv = "TESTENV_TEST_INSIDE"

// TestTemporaryDirectories runs a copy of this program, alone in a directory, where
// programs can be executed in its temporary directories, and where they cannot.
func TestTemporaryDirectories(t *testing.T) {
	if os.Getenv(insideEnv) != "" {
		if err := executable(t.TempDir()); err != nil {
			t.Error(err)
		}
		return
	}
	const mount = `mount -t tmpfs -o noexec tmpfs "$NOEXEC"`
	noexec := t.TempDir()
	t.Setenv("NOEXEC", noexec)
	Need(t, "unshare", "mount", "sh", "cp")
	NeedSuccess(t, "mount in a namespace", "unshare", "--mount", "sh", "-c", mount)
	good := t.TempDir()
	self := filepath.Join(good, "self.test")
	if out, err := exec.Command("cp", os.Args[0], self).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct{ tmpdir, gotmpdir string }{{good, ""}, {noexec, good}, {noexec, ""}, {good, noexec}} {
		cmd := exec.Command("unshare", "--mount", "sh", "-c", mount+` && exec "$0" "$@"`, self, "-test.run=^TestTemporaryDirectories$")
		cmd.Env = append(os.Environ(), insideEnv+"=1", "TMPDIR="+c.tmpdir, "GOTMPDIR="+c.gotmpdir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("TMPDIR=%s GOTMPDIR=%s: %v\n%s", c.tmpdir, c.gotmpdir, err, out)
		}
		if left, err := os.ReadDir(good); err != nil || len(left) != 1 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

package testenv

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// run calls tests, which is m.Run of a TestMain or calls it, in the environment that Main
// promises, and returns its exit status.
func run(tests func() int) int {
	if err := cmp.Or(removeStarter(), needLoopback()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	remove, err := programTemp()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	heedSignals()
	return tests()
}

// heedSignals makes processes that tests start end by signals which this program was started to
// ignore, as is one in the background of a script.
func heedSignals() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // nobody reads it: this program goes on
		}
	}
}

// programTemp sets GOTMPDIR, which t.TempDir obeys, to a new directory beside this program
// if programs cannot be executed where it points, and returns a function that removes
// what it has made.
func programTemp() (remove func(), err error) {
	temp := os.Getenv("GOTMPDIR")
	if temp == "" {
		temp = os.TempDir()
	}
	if err := executable(temp); err == nil {
		return func() {}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(self), "temp-")
	if err == nil {
		if err = executable(dir); err != nil {
			os.RemoveAll(dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("programs can be executed neither in %s nor beside %s (%w): set GOTMPDIR to a directory in which they can", temp, self, err)
	}
	return func() { os.RemoveAll(dir) }, os.Setenv("GOTMPDIR", dir)
}

// executable returns nil if programs in a directory can be executed. The system is asked
// to execute an empty one: it refuses that for its format unless it refuses the place.
func executable(dir string) error {
	f, err := os.CreateTemp(dir, "empty-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = f.Chmod(0o700)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err = exec.Command(f.Name()).Run(); errors.Is(err, syscall.ENOEXEC) {
		return nil
	}
	return err
}

// WriteTree writes files, index is their slash-separated name, into a new directory, which
// becomes the current one until the test ends. One that begins with #! can be executed.
func WriteTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// OnFullDisk runs a command whose standard output takes nothing, and returns the Complaints of
// its standard error, and its exit code.
func OnFullDisk(t testing.TB, cmd *exec.Cmd) (stderr string, code int) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		Lack(t, err.Error())
	}
	defer full.Close()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = full, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return Complaints(said.String()), cmd.ProcessState.ExitCode()
}

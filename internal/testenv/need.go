// Package testenv is what tests may need of the machine that they run on. What is
// missing skips a test, or fails it where everything must be there: when
// GASPI_CI=1 is in the environment. It is for tests alone.
package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// Need skips the test if one of the commands is not in PATH.
func Need(t testing.TB, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			lack(t, "the command "+command+" is not in PATH: .ci/run tools installs it")
		}
	}
}

// NeedRoot skips the test if it does not run as root; what says for what it is
// needed.
func NeedRoot(t testing.TB, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		lack(t, "only root can "+what)
	}
}

// lack skips or fails the test for a reason.
func lack(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("GASPI_CI") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

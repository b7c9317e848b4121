package cluster

import (
	"os"
	"os/exec"
	"testing"
)

// need skips the test if a tool is missing, or fails it where all must be there.
func need(t testing.TB, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			lack(t, "the command "+tool+" is not in PATH: .ci/run tools installs it")
		}
	}
}

// needRoot skips or fails a test that cannot make namespaces.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		lack(t, "only root can make hosts out of namespaces")
	}
}

func lack(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("GASPI_CI") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

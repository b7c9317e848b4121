package cluster

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// need skips the test if a tool is missing, or fails it where all must be there.
func need(t testing.TB, tools ...string) {
	t.Helper()
	testenv.Need(t, tools...)
}

// needRoot skips or fails a test that cannot make namespaces.
func needRoot(t testing.TB) {
	t.Helper()
	testenv.NeedRoot(t, "make hosts out of namespaces")
}

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

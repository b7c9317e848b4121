//go:build !race

package gaspi_test

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Processes of a host communicate in all ways through an emulated network, too.
func TestProcessesEmulated(t *testing.T) {
	for _, c := range []struct{ role, transport string }{
		{"message", "shm"}, {"message", "tcp"}, {"line", "shm"}, {"line", "tcp"}, {"passive", "shm"}, {"passive", "tcp"},
		{"collectives", "shm"}, {"collectives", "tcp"}, {"segments", "shm"},
	} {
		t.Run(c.role+" over "+c.transport, func(t *testing.T) {
			env := []string{"GASPI_EMULATE=latency=30us,bandwidth=2GB/s,jitter=20us"}
			ranktest.Succeeds(t, launcher.Config{Ranks: 4, Transport: c.transport, Env: env}, c.role)
		})
	}
}

// An environment that makes no sense is one sentence.
func TestProcessesEmulatedRefuses(t *testing.T) {
	o := ranktest.Run(t, launcher.Config{Ranks: 1, Env: []string{"GASPI_EMULATE=latency=30"}}, "message")
	if want := `gaspi: GASPI_EMULATE: emulated network: latency: "30" is no time`; o.ExitCode == 0 || !strings.Contains(o.Stderr, want) {
		t.Errorf("exit code %d, %s; want one that says %s", o.ExitCode, o.Output, want)
	}
}

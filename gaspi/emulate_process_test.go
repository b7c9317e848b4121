//go:build !race

package gaspi_test

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// Processes of a host communicate in all ways through an emulated network, too.
func TestProcessesEmulated(t *testing.T) {
	for _, c := range []struct{ role, transport string }{
		{"message", "shm"}, {"message", "tcp"}, {"passive", "shm"}, {"passive", "tcp"},
		{"collectives", "shm"}, {"collectives", "tcp"}, {"segments", "shm"},
	} {
		t.Run(c.role+" over "+c.transport, func(t *testing.T) {
			result, out := processes(t, 4, c.role, func(l *launcher.Config) {
				l.Transport = c.transport
				l.Env = append(l.Env, "GASPI_EMULATE=latency=30us,bandwidth=2GB/s,jitter=20us")
			})
			if result.ExitCode != 0 {
				t.Errorf("exit code %d, %s\n%s", result.ExitCode, result.Sentence, out)
			}
		})
	}
}

// An environment that makes no sense is one sentence.
func TestProcessesEmulatedRefuses(t *testing.T) {
	result, out := processes(t, 1, "message", func(c *launcher.Config) {
		c.Env = append(c.Env, "GASPI_EMULATE=latency=30")
	})
	if want := `gaspi: Config.Emulate: emulated network: latency: "30" is no time`; result.ExitCode == 0 || !strings.Contains(out, want) {
		t.Errorf("exit code %d, %s; want one that says %s", result.ExitCode, out, want)
	}
}

package launcher

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Answers of agents arrive as they were, whatever is known there.
func TestMeasuresArrive(t *testing.T) {
	for name, want := range map[string]rowsFrame{
		"nothing was asked for": {},
		"the kernel tells nothing": {
			Measured: []netstat.Measures{{}, {Processor: netstat.ProcessorTime{CPU: 1}, Links: []netstat.LinkMeasures{{Peer: 0, Acked: 2}}}},
			Kernel:   supervise.KernelReport{Missing: "no right", Ranks: make([]supervise.KernelTimes, 2)},
		},
		"the kernel tells of one rank": {
			Measured: make([]netstat.Measures, 2),
			Kernel:   supervise.KernelReport{Ranks: []supervise.KernelTimes{{}, {Run: []uint64{1}, Wake: []uint64{2}, Resent: 3, Resends: []supervise.Resend{{Port: 4}}}}},
		},
	} {
		got, err := decode[rowsFrame](encode(frameRows, 1, want))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}

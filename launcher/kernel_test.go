package launcher

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
)

// Answers of agents arrive as they were, whatever is known there.
func TestMeasuresArrive(t *testing.T) {
	for name, want := range map[string]rowsFrame{
		"nothing was asked for": {},
		"the kernel tells nothing": {
			Measured: []netstat.Measures{{}, {Processor: netstat.ProcessorTime{CPU: 1}, Links: []netstat.LinkMeasures{{Peer: 0, Acked: 2}}}},
			Kernel:   kernelReport{Missing: "no right", Ranks: make([]KernelTimes, 2)},
		},
		"the kernel tells of one rank": {
			Measured: make([]netstat.Measures, 2),
			Kernel:   kernelReport{Ranks: []KernelTimes{{}, {Run: []uint64{1}, Wake: []uint64{2}, Resent: 3, Resends: []Resend{{Port: 4}}}}},
		},
	} {
		got, err := decode[rowsFrame](encode(frameRows, 1, want))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}

// TestProbeThatFails counts for nothing but a sentence.
func TestProbeThatFails(t *testing.T) {
	var k kernelWatch
	k.open(false, nil)
	if k.missing != "" {
		t.Errorf("%q without being wanted", k.missing)
	}
	k.open(true, nil)
	if k.missing != errNoProbe.Error() {
		t.Errorf("%q without a prober", k.missing)
	}
	k.open(true, func() (Prober, error) { return nil, errors.New("no right") })
	k.began(1)
	k.close()
	if k.missing != "no right" {
		t.Errorf("%q of a prober that cannot be opened", k.missing)
	}
}

package agent

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Answers of agents arrive as they were, whatever is known there.
func TestMeasuresArrive(t *testing.T) {
	for name, want := range map[string]rowsFrame{
		"nothing was asked for": {},
		"the kernel tells nothing": {
			Measured: []netstat.Measures{{}, {Processor: netstat.ProcessorTime{CPU: 1}, Links: []netstat.LinkMeasures{{Peer: 0, Acked: 2}}}},
			Kernel:   supervise.KernelReport{Missing: "no right", Ranks: make([][]byte, 2)},
		},
		"the kernel tells of one rank": {
			Measured: make([]netstat.Measures, 2),
			Kernel:   supervise.KernelReport{Ranks: [][]byte{nil, []byte("times")}},
		},
	} {
		got, err := decode[rowsFrame](encode(frameRows, 1, want))
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}

// TestDirectoryThatIsNotThere is about another host: this one has it.
func TestDirectoryThatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	err := executable.At("/bin/sh", "sh").Command("sh", dir, nil).Explain(syscall.ENOENT)
	r := NewSite(Launcher{}, hosts.Place{Name: "b"}, nil)
	err = r.problem(started{Problem: err.Error(), Because: obstacleOf(err)})
	want := "host b: sh: there is no directory " + dir + " to start it in; the program and its directory must be there too, or be copied with --stage"
	if !errors.Is(err, executable.ErrNoDirectory) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

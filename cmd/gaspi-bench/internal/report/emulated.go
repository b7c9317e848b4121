package report

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

// Punctual prints whether the host carried the emulated network, if there is one.
func (out *Printer) Punctual(p *gaspi.Proc, all emulation.Punctuality) error {
	network, emulated := p.Emulation().Network()
	if out == nil || !emulated {
		return nil
	}
	lines := []string{"", "emulated network: " + network.String(), all.String()}
	if all.Humble {
		lines = append(lines, "the threads that deliver have no priority over others; run as root, or with the right to real-time priorities (ulimit -r)")
	}
	cores := float64(runtime.NumCPU())
	if part := (stolen() - out.stolen).Seconds() / time.Since(out.begun).Seconds() / cores; part >= noticeable {
		lines = append(lines, fmt.Sprintf("the machine that this one runs on withheld %.0f%% of the processor time meanwhile", 100*part))
	}
	return out.Print(lines)
}

// noticeable is the part of the processor time that must be missing to be worth a word.
const noticeable = 0.01

// stolen is the processor time that the machine below a virtual one has withheld from it
// since it started, over all cores; 0 where nobody says.
func stolen() time.Duration {
	all, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(all), "\n")
	const name, column = "cpu", 8 // user nice system idle iowait irq softirq steal
	fields := strings.Fields(line)
	if len(fields) <= column || fields[0] != name {
		return 0
	}
	ticks, err := strconv.ParseInt(fields[column], 10, 64)
	if err != nil {
		return 0
	}
	const tick = 10 * time.Millisecond // the same on all systems that Linux runs on
	return time.Duration(ticks) * tick
}

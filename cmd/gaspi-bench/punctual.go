package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// carried is how punctual the emulated network of all ranks together was since the last
// call, the same on all of them; false if none is emulated. All ranks call it.
func (b *bench) carried(ctx context.Context) (gaspi.Punctuality, bool, error) {
	return b.ofAll(ctx, b.p.RestartPunctuality())
}

// ofAll is carried for what each rank has seen itself.
func (b *bench) ofAll(ctx context.Context, own gaspi.Punctuality) (gaspi.Punctuality, bool, error) {
	if _, ok := b.p.Emulated(); !ok {
		return gaspi.Punctuality{}, false, nil
	}
	sums := []int64{int64(own.Delivered.Events), int64(own.Delivered.Late), int64(own.Noticed.Events), int64(own.Noticed.Late)}
	worst := []int64{
		int64(own.Delivered.P50), int64(own.Delivered.P99), int64(own.Noticed.P50), int64(own.Noticed.P99), 0,
	}
	if own.Humble {
		worst[4] = 1
	}
	if err := gaspi.AllReduce(ctx, b.p.World(), sums, sums, gaspi.Sum); err != nil {
		return own, true, err
	}
	if err := gaspi.AllReduce(ctx, b.p.World(), worst, worst, gaspi.Max); err != nil {
		return own, true, err
	}
	late := func(i int, limit time.Duration) gaspi.Lateness {
		return gaspi.Lateness{
			Events: uint64(sums[i]), Late: uint64(sums[i+1]), Limit: limit,
			P50: time.Duration(worst[i]), P99: time.Duration(worst[i+1]),
		}
	}
	return gaspi.Punctuality{
		Delivered: late(0, own.Delivered.Limit), Noticed: late(2, own.Noticed.Limit), Humble: worst[4] != 0,
	}, true, nil
}

// stampEmulated says in rows what network was emulated, and whether the host carried it.
func (b *bench) stampEmulated(ctx context.Context, rows []row) error {
	return b.stampPunctual(ctx, rows, b.p.RestartPunctuality())
}

// stampPunctual is stampEmulated for what each rank has seen itself.
func (b *bench) stampPunctual(ctx context.Context, rows []row, own gaspi.Punctuality) error {
	p, emulated, err := b.ofAll(ctx, own)
	if err != nil || !emulated {
		return err
	}
	b.punctual = b.punctual.Merge(p)
	network, _ := b.p.Emulated()
	for i := range rows {
		rows[i].Emulated, rows[i].Invalid = network.String(), !p.Valid()
		rows[i].LateShare = max(p.Delivered.Share(), p.Noticed.Share())
	}
	return nil
}

// punctual prints whether the host carried the emulated network, if there is one.
func (out *output) punctual(p *gaspi.Proc, all gaspi.Punctuality) error {
	network, emulated := p.Emulated()
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
	return out.print(lines)
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

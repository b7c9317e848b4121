package collectives

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/model"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/namedfile"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Environment variables.
const (
	envMachine    = "GASPI_MACHINE" // a file that gaspi-bench tune wrote
	envAlgorithms = "GASPI_COLL"    // see Config.Algorithms
)

// maxMachine bounds a file of parameters, in bytes: gaspi-bench tune writes fewer than 1000.
const maxMachine = 64 << 10

// A Machine is the parameters of the model that algorithms are chosen by: what messages,
// copies and folds cost, in seconds and bytes per second. GASPI_MACHINE names a file of them,
// which gaspi-bench tune writes; DefaultMachine has values for all.
type Machine = model.Machine

// DefaultMachine is what algorithms are chosen by where nothing was measured: a
// server of the present day, whose ranks share memory or a network of 25 Gbit/s.
// A team replaces its Cores by those of the smallest host.
func DefaultMachine() Machine {
	return Machine{
		Call: 70e-9, Await: 4e-9, Step: 65e-9,
		Network:   model.Link{Latency: 5e-6, Put: 1e-6, Signal: 1e-6},
		Shared:    model.Link{Latency: 105e-9, Put: 55e-9, Signal: 60e-9},
		Bandwidth: 3e9, Ports: 1, SocketRate: 8e9, SocketFar: 4.5e9, Near: 4 << 20,
		ReduceRate: 24e9, CopyRate: 30e9, CodeRate: 1e9, CodeRatio: 0.7,
		Memory: 25e9, CoreMemory: 14e9, Cache: 8 << 20,
		Cores: 1, Switch: 1.2e-6,
	}
}

// mostAlike is how many nodes have the number that most have.
func mostAlike(nodes []int) (most int) {
	count := make(map[int]int)
	for _, n := range nodes {
		count[n]++
		most = max(most, count[n])
	}
	return most
}

// measured reports whether the parameters are not the default ones: they count as they are.
func (t *Team) measured() bool { return t.cfg.Machine != nil || os.Getenv(envMachine) != "" }

// OnNetwork changes a machine to what it is where a network is emulated, as a team does
// by itself: the model is the emulator's own, so nothing is measured. Cards move bytes
// by themselves.
func OnNetwork(m *Machine, n emulation.Network) {
	overhead := n.Overhead.Seconds()
	m.Network = model.Link{Latency: (n.Latency + n.Jitter/2).Seconds(), Put: overhead, Signal: overhead}
	m.Bandwidth, m.SocketRate, m.Take = n.Bandwidth, 0, 0
}

// prepareChoice finds out what algorithms are chosen by.
func (t *Team) prepareChoice() error {
	t.chooser.Machine = DefaultMachine()
	t.chooser.Machine.Cores = t.proc.LocalCores()
	if t.proc.LocalSize() == t.proc.Size() {
		choice.OnOneHost(&t.chooser.Machine)
	}
	if network, ok := t.proc.Emulation().Network(); ok {
		OnNetwork(&t.chooser.Machine, network)
	}
	switch file := os.Getenv(envMachine); {
	case t.cfg.Machine != nil:
		t.chooser.Machine = *t.cfg.Machine
	case file != "":
		tuned := namedfile.File{Named: envMachine, Path: file, Expected: "a file that gaspi-bench tune has written", Most: maxMachine}
		if err := tuned.JSON(&t.chooser.Machine); err != nil {
			return err
		}
		if err := t.chooser.Machine.Check(); err != nil {
			return tuned.Wrong(err)
		}
	}
	if err := t.chooser.Machine.Check(); err != nil {
		return err
	}
	text := t.cfg.Algorithms
	if text == "" {
		text = os.Getenv(envAlgorithms)
	}
	var err error
	if t.chooser.Forced, err = choice.ParseForced(text); err != nil {
		return fmt.Errorf("%s: %w", envAlgorithms, err)
	}
	return nil
}

// agreeOnMachine makes sure that all members choose by the same figures. The
// number of cores is that of the smallest host.
func (t *Team) agreeOnMachine(ctx context.Context) error {
	cores := []int64{int64(t.chooser.Machine.Cores)}
	if err := agree.AllReduce(ctx, t.own, cores, gaspi.Min); err != nil {
		return err
	}
	t.chooser.Machine.Cores = int(cores[0])
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v|%v|%v|%v|%v", t.chooser.Machine, t.chooser.Forced, t.cfg.Scratch, t.cfg.Slots, t.proc.LocalSize() == t.proc.Size())
	fmt.Fprintf(h, "|%v", t.ranks)
	sum := h.Sum64()
	both := []uint64{sum, ^sum}
	if err := agree.AllReduce(ctx, t.own, both, gaspi.Max); err != nil {
		return err
	}
	if both[0] != ^both[1] {
		return fmt.Errorf("%w: members were given different configurations; make Config, %s, %s and the file it names alike on all of them",
			gaspi.ErrMismatch, envAlgorithms, envMachine)
	}
	return nil
}

// A Candidate is one way to do a call and what the model says of it.
type Candidate struct {
	Algorithm string  // with segments, as in "ring/4096x4": the option Algorithm takes it
	Seconds   float64 // predicted
	Chosen    bool
}

// Explain returns the candidates for a task, the fastest first, and what the task's options demand,
// if that is another way. The team chooses, of those that take at most 1 % longer than the fastest,
// the one that cuts the vector into the fewest segments, and where ranks share cores the radix with the fewest
// rounds of those by which that one takes at most 10 % longer. Explain is local, begins nothing, and
// changes no choice.
func Explain(t *Team, task Task) ([]Candidate, error) {
	if !t.engine.Enter() {
		return nil, refused("explain " + task.String())
	}
	defer t.engine.Leave()
	if task.err != nil {
		return nil, t.failed(&task, task.err)
	}
	if err := task.check(t); err != nil {
		return nil, t.failed(&task, err)
	}
	t.limit(&task)
	p := t.draft(&task, task.key(t))
	if p.call.Op != schedule.Barrier && p.call.Count == 0 && p.call.Counts == nil {
		p.call.Count = 1
	}
	variants, err := t.chooser.Explain(&p.call)
	if err != nil {
		return nil, t.failed(&task, err)
	}
	var all []Candidate
	for _, v := range variants {
		all = append(all, Candidate{v.Variant.String(), v.Seconds, v.Chosen})
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return all, nil
}

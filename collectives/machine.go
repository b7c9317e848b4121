package collectives

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Environment variables.
const (
	envMachine    = "GASPI_MACHINE" // a file that gaspi-bench tune wrote
	envAlgorithms = "GASPI_COLL"    // see Config.Algorithms
)

// A Machine is the parameters of the model that algorithms are chosen by: what messages,
// copies and folds cost, in seconds and bytes per second. GASPI_MACHINE names a file of them,
// which gaspi-bench tune writes; DefaultMachine has values for all.
type Machine = price.Machine

// DefaultMachine is what algorithms are chosen by where nothing was measured: a
// server of the present day, whose ranks share memory or a network of 25 Gbit/s.
// A team replaces its Cores by those of the smallest host.
func DefaultMachine() Machine {
	return Machine{
		Call: 70e-9, Await: 4e-9, Step: 65e-9,
		Network:   price.Link{Latency: 5e-6, Put: 1e-6, Signal: 1e-6},
		Shared:    price.Link{Latency: 105e-9, Put: 55e-9, Signal: 60e-9},
		Bandwidth: 3e9, Ports: 1, SocketRate: 8e9, SocketFar: 4.5e9, Near: 1 << 20,
		ReduceRate: 12e9, CopyRate: 15e9, CodeRate: 1e9, CodeRatio: 0.7,
		Memory: 25e9, CoreMemory: 14e9, Cache: 8 << 20,
		Cores: 1, Switch: 1.2e-6,
	}
}

// onOneHost changes a machine to what it is where all ranks are on one host: sockets
// there have no wire, so that nearly all of a message is work of processors, which the
// ranks share.
func onOneHost(m *Machine) {
	m.Network = price.Link{Latency: 0.5e-6, Put: 3.5e-6, Signal: 3.5e-6}
	m.Take = 2.5e-6
	m.Bandwidth = 20e9 // more than processors can move
}

// prepareChoice finds out what algorithms are chosen by.
func (t *Team) prepareChoice() error {
	t.machine = DefaultMachine()
	t.machine.Cores = t.proc.LocalCores()
	if t.proc.LocalSize() == t.proc.Size() {
		onOneHost(&t.machine)
	}
	if network, ok := t.proc.Emulated(); ok {
		OnNetwork(&t.machine, network)
	}
	switch file := os.Getenv(envMachine); {
	case t.cfg.Machine != nil:
		t.machine = *t.cfg.Machine
	case file != "":
		if err := readMachine(file, &t.machine); err != nil {
			return err
		}
	}
	if err := t.machine.Check(); err != nil {
		return err
	}
	text := t.cfg.Algorithms
	if text == "" {
		text = os.Getenv(envAlgorithms)
	}
	var err error
	t.forced, err = parseForced(text)
	return err
}

func readMachine(file string, m *Machine) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w; write it with gaspi-bench tune", envMachine, err)
	}
	if err := json.Unmarshal(b, m); err != nil {
		return fmt.Errorf("%s: %s is no file of gaspi-bench tune: %w", envMachine, file, err)
	}
	return nil
}

// parseForced reads "allreduce:ring/4096x4,alltoall:pairwise".
func parseForced(text string) (map[schedule.Operation]tuning, error) {
	forced := make(map[schedule.Operation]tuning)
	for field := range strings.SplitSeq(text, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		name, how, ok := strings.Cut(field, ":")
		op, known := operationNamed(name)
		if !ok || !known {
			return nil, fmt.Errorf("%s: %q; expected an operation and an algorithm, such as allreduce:ring", envAlgorithms, field)
		}
		want, err := parseAlgorithm(how)
		if err == nil {
			_, err = algorithms.Lookup(op, want.algorithm)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", envAlgorithms, field, err)
		}
		forced[op] = want
	}
	return forced, nil
}

func operationNamed(name string) (schedule.Operation, bool) {
	for _, op := range schedule.Operations() {
		if op.String() == name {
			return op, true
		}
	}
	return 0, false
}

// agreeOnMachine makes sure that all members choose by the same figures. The
// number of cores is that of the smallest host.
func (t *Team) agreeOnMachine(ctx context.Context) error {
	cores := []int64{int64(t.machine.Cores)}
	if err := agree.AllReduce(ctx, t.own, cores, gaspi.Min); err != nil {
		return err
	}
	t.machine.Cores = int(cores[0])
	h := fnv.New64a()
	fmt.Fprintf(h, "%+v|%v|%v|%v|%v", t.machine, t.forced, t.cfg.Scratch, t.cfg.Slots, t.proc.LocalSize() == t.proc.Size())
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

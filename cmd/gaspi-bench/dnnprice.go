package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/dnn"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/model"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// price does the work of dnn --simulate, which starts no ranks.
func (c *dnnCommand) price(o *options, stdout, stderr *os.File) error {
	m, name, err := modelMachine(o.emulate)
	if err != nil {
		return err
	}
	results, err := dnn.Simulate(c.cfg, m, o.ranks)
	if err != nil {
		return err
	}
	out, err := report.NewPrinter(o.forms, stdout, stderr, fmt.Sprintf("gaspi-bench: %d nodes of %s, simulated", o.ranks, name))
	if err != nil {
		return err
	}
	return errors.Join(c.show(out, results), out.Close())
}

// modelMachine is the machine that algorithms are chosen by, with a rank on each
// node, and behind an emulated network if one is named.
func modelMachine(emulate string) (*price.Machine, string, error) {
	m := collectives.DefaultMachine()
	name := "a machine with a network of 25 Gbit/s"
	if file := os.Getenv(model.EnvMachine); file != "" {
		if err := model.ReadMachine(model.EnvMachine, file, &m); err != nil {
			return nil, "", err
		}
		name = "the machine of " + file
	}
	m.RanksPerNode = 1
	if emulate != "" {
		n, err := emulation.Parse(emulate)
		if err != nil {
			return nil, "", fmt.Errorf("--emulate: %w", err)
		}
		collectives.OnNetwork(&m, n)
		name = "a machine with the network " + n.String()
	}
	return &m, name, m.Check()
}

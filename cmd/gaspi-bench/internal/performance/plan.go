package performance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
)

// Benchmarks says how to measure.
type Benchmarks struct {
	subprocess.Runner
	Peers       []string // libraries, as --peer of gaspi-bench names them
	Repetitions int      // rounds of all sides
	// Doing, if not nil, hears what is measured next.
	Doing func(command string)
}

// Measure measures all tables and keeps the rows in a file, after each operation, so that
// those that were measured stay if it is interrupted. It fails with the first error.
func (p *Benchmarks) Measure(ctx context.Context, file, host string) error {
	m := &Measured{Date: time.Now().UTC().Format("2 January 2006"), Host: host}
	for _, t := range tables() {
		for _, at := range t.setups {
			for _, c := range t.commands {
				args := p.arguments(c, at)
				if p.Doing != nil {
					p.Doing(strings.Join(args, " "))
				}
				runner := p.Runner
				if c.once {
					runner.Time = 0
				}
				rows, err := runner.Rows(ctx, args...)
				m.add(rows)
				if err := m.Save(file); err != nil {
					return err
				}
				if ctx.Err() != nil {
					return errors.New("interrupted")
				}
				if err != nil {
					return fmt.Errorf("%s of %d ranks over %s: %w", c.name, at.ranks, at.over, err)
				}
			}
		}
	}
	return nil
}

// arguments returns the command line of an operation.
func (p *Benchmarks) arguments(c command, at setup) []string {
	args := append([]string{c.name}, at.flags()...)
	if len(c.sizes) > 0 {
		var sizes []string
		for _, b := range c.sizes {
			sizes = append(sizes, strconv.FormatUint(b, 10))
		}
		args = append(args, "--sizes", strings.Join(sizes, ","))
	}
	args = append(args, c.flags...)
	if c.beside == nil {
		return args
	}
	rounds := p.Repetitions
	if at.rounds > 0 {
		rounds = min(rounds, at.rounds)
	}
	if libraries := c.beside(p.Peers); len(libraries) > 0 {
		args = append(args, "--peer", strings.Join(libraries, ","), "--repetitions", strconv.Itoa(rounds))
	}
	return args
}

// flags names the setup to gaspi-bench.
func (at setup) flags() []string {
	flags := []string{"-n", strconv.Itoa(at.ranks), "--transport", at.over}
	if at.bound {
		flags = append(flags, "--bind", "core")
	}
	if at.emulate != "" {
		flags = append(flags, "--emulate", at.emulate)
	}
	return flags
}

// add keeps the fields of rows that tables need, and leaves comparisons out.
func (m *Measured) add(rows []report.Row) {
	for _, r := range slices.DeleteFunc(rows, func(r report.Row) bool { return r.Impl == "" }) {
		m.Rows = append(m.Rows, report.Row{
			Op: r.Op, Impl: r.Impl, Transport: r.Transport, N: r.N, Bytes: r.Bytes, P50US: r.P50US, CPUUSPerCall: r.CPUUSPerCall,
			Emulated: r.Emulated, Invalid: r.Invalid, Version: r.Version, Way: r.Way, Congestion: r.Congestion, Note: r.Note,
		})
	}
}

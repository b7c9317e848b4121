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

// A quantity is a table: the operations in its rows and the sizes in its columns.
type quantity struct {
	title string
	unit  string // of the first number of a cell, and what else readers must know
	ops   []string
	sizes []string // as --sizes takes them; nil for an operation that moves no data
	bytes []uint64 // the same
	ranks []int
}

// quantities are all tables, in their order.
func quantities() []quantity {
	small, large := []uint64{8, 1 << 10, 64 << 10, 1 << 20}, []uint64{8, 4 << 10, 256 << 10, 1 << 20, 8 << 20}
	return []quantity{
		{title: "Latency", unit: "microseconds, one way", ops: []string{"latency"}, sizes: []string{"8 B", "1 KiB", "64 KiB", "1 MiB"}, bytes: small, ranks: []int{2}},
		{title: "Writes in a row", unit: "microseconds a write", ops: []string{"bandwidth"}, sizes: []string{"1 MiB", "16 MiB"}, bytes: []uint64{1 << 20, 16 << 20}, ranks: []int{2}},
		{title: "Barrier", unit: "microseconds", ops: []string{"barrier"}, ranks: []int{2, 4}},
		{
			title: "Collectives", unit: "microseconds; bytes of a vector, in an alltoall of a block", ops: []string{"allreduce", "alltoall", "broadcast", "reduce"},
			sizes: []string{"8 B", "4 KiB", "256 KiB", "1 MiB", "8 MiB"}, bytes: large, ranks: []int{2, 4},
		},
	}
}

// transports are those that are measured within a host.
func transports() []string { return []string{"shm", "tcp"} }

// Benchmarks says how to measure.
type Benchmarks struct {
	subprocess.Runner
	Peers       []string // libraries, as --peer of gaspi-bench names them
	Repetitions int      // rounds of all sides
	// Doing, if not nil, hears what is measured next.
	Doing func(command string)
}

// Measure measures all quantities and keeps the rows in a file, after each operation, so that
// those that were measured stay if it is interrupted. It fails with the first error.
func (p *Benchmarks) Measure(ctx context.Context, file, host string) error {
	m := &Measured{Date: time.Now().UTC().Format("2 January 2006"), Host: host}
	for _, q := range quantities() {
		for _, n := range q.ranks {
			for _, transport := range transports() {
				for _, op := range q.ops {
					args := p.arguments(q, op, n, transport)
					if p.Doing != nil {
						p.Doing(strings.Join(args, " "))
					}
					rows, err := p.Rows(ctx, args...)
					m.add(rows)
					if err := m.Save(file); err != nil {
						return err
					}
					if ctx.Err() != nil {
						return errors.New("interrupted")
					}
					if err != nil {
						return fmt.Errorf("%s of %d ranks over %s: %w", op, n, transport, err)
					}
				}
			}
		}
	}
	return nil
}

// arguments returns the command line of an operation.
func (p *Benchmarks) arguments(q quantity, op string, n int, transport string) []string {
	args := []string{op, "-n", strconv.Itoa(n), "--transport", transport}
	if len(q.bytes) > 0 {
		var sizes []string
		for _, b := range q.bytes {
			sizes = append(sizes, strconv.FormatUint(b, 10))
		}
		args = append(args, "--sizes", strings.Join(sizes, ","))
	}
	if len(p.Peers) > 0 {
		args = append(args, "--peer", strings.Join(p.Peers, ","), "--repetitions", strconv.Itoa(p.Repetitions))
	}
	return args
}

// add keeps the fields of rows that tables need, and leaves comparisons out.
func (m *Measured) add(rows []report.Row) {
	for _, r := range slices.DeleteFunc(rows, func(r report.Row) bool { return r.Impl == "" }) {
		m.Rows = append(m.Rows, report.Row{
			Op: r.Op, Impl: r.Impl, Transport: r.Transport, N: r.N, Bytes: r.Bytes, P50US: r.P50US,
			Version: r.Version, Way: r.Way, Congestion: r.Congestion, Note: r.Note,
		})
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
)

// A plan is what both commits measure.
type plan struct {
	rounds     int
	operations []string
	transports []string
	ranks      []int
	sizes      string
}

// A benchCall is one start of gaspi-bench.
type benchCall struct {
	operation, transport string
	ranks                int
}

// calls are the starts of a round.
func (p *plan) calls() []benchCall {
	var all []benchCall
	for _, op := range p.operations {
		for _, transport := range p.transports {
			for _, n := range p.ranks {
				all = append(all, benchCall{op, transport, n})
			}
		}
	}
	return all
}

// arguments returns the command line of gaspi-bench.
func (c benchCall) arguments(sizes string) []string {
	return []string{c.operation, "-n", strconv.Itoa(c.ranks), "--transport", c.transport, "--sizes", sizes}
}

// A sideRow is a row of a side in a round.
type sideRow struct {
	Side string `json:"side"` // old or new
	In   int    `json:"in"`   // the round, from 0
	report.Row
}

// A measurement is the turns of both sides.
type measurement struct {
	plan
	sides    [2]*subprocess.Runner
	rows     *rowFile
	progress func(string)

	records []sideRow
	ended   int // rounds
}

// run measures all rounds. In each, every call is made by both sides, one right after the
// other; who begins changes from round to round.
func (m *measurement) run(ctx context.Context) error {
	for round := range m.rounds {
		for _, call := range m.calls() {
			for turn := range m.sides {
				side := (turn + round) % len(m.sides)
				m.progress(fmt.Sprintf("round %d of %d: %s of %d ranks over %s, %s", round+1, m.rounds, call.operation, call.ranks, call.transport, sideNames[side]))
				if err := m.measure(ctx, call, side, round); err != nil {
					return err
				}
			}
		}
		m.ended++
	}
	return nil
}

// measure makes a call.
func (m *measurement) measure(ctx context.Context, call benchCall, side, round int) error {
	rows, err := m.sides[side].Rows(ctx, call.arguments(m.sizes)...)
	if err != nil {
		return fmt.Errorf("%s commit: %w", sideNames[side], err)
	}
	for _, r := range rows {
		made := sideRow{sideNames[side], round, r}
		m.records = append(m.records, made)
		if err := m.rows.add(made); err != nil {
			return err
		}
	}
	return nil
}

// A rowFile is a file of rows, a line each. A nil one takes them and keeps none.
type rowFile struct{ file *os.File }

// openRows opens the file of that name; an empty name is that of no file.
func openRows(name string) (*rowFile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, &inputError{report.Unwritable("--json", name, err).Error()}
	}
	return &rowFile{f}, nil
}

func (f *rowFile) add(r sideRow) error {
	if f == nil {
		return nil
	}
	if err := json.NewEncoder(f.file).Encode(r); err != nil {
		return fmt.Errorf("writing rows: %w", err)
	}
	return nil
}

func (f *rowFile) close() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}

package performance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/namedfile"
)

// Measured is rows, and when and where they were measured.
type Measured struct {
	Date string       `json:"date"`
	Host string       `json:"host"` // with its processor, kernel, Go and the commit
	Rows []report.Row `json:"rows"`
}

// Save writes all to a file, a row a line.
func (m *Measured) Save(file string) error {
	var b bytes.Buffer
	head, err := json.Marshal(map[string]string{"date": m.Date, "host": m.Host})
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	fmt.Fprintf(&b, "%s,\n\"rows\": [", head[:len(head)-1])
	for i, r := range m.Rows {
		row, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n%s", row)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(file, b.Bytes(), 0o644)
}

const mostRows = 64 << 20 // bytes: some hundred times those of docs/figures/performance.json

// Load reads a file that Save wrote.
func Load(file string) (*Measured, error) {
	m := &Measured{}
	rows := namedfile.File{Named: "--rows", Path: file, Expected: "a file that gaspi-bench performance --measure has written", Most: mostRows}
	if err := rows.JSON(m); err != nil {
		return nil, err
	}
	if len(m.Rows) == 0 {
		return nil, fmt.Errorf("%s has no rows; measure some with --measure", file)
	}
	return m, nil
}

// A figure is the times of an operation, in microseconds; NaN where there is none.
type figure struct{ ours, limit, peer float64 }

// of returns the figure of an operation: of the limit and of others the fastest.
func (m *Measured) of(op string, at setup, bytes uint64) figure {
	f := figure{math.NaN(), math.NaN(), math.NaN()}
	for r := range m.rowsOf(op, at, bytes) {
		to := &f.peer
		switch r.Impl {
		case report.ImplGaspi:
			to = &f.ours
		case report.ImplLimit:
			to = &f.limit
		case report.ImplChain:
			continue // neither
		}
		if !(*to <= r.P50US) { // also where there is none yet
			*to = r.P50US
		}
	}
	return f
}

// processor returns the processor time of a rank in one call of the runtime, in microseconds; NaN if there is none.
func (m *Measured) processor(op string, at setup, bytes uint64) float64 {
	for r := range m.rowsOf(op, at, bytes) {
		if r.Impl == report.ImplGaspi {
			return r.CPUUSPerCall
		}
	}
	return math.NaN()
}

// rowsOf returns the rows of an operation that are valid.
func (m *Measured) rowsOf(op string, at setup, bytes uint64) iter.Seq[report.Row] {
	return func(yield func(report.Row) bool) {
		for _, r := range m.Rows {
			same := r.Op == op && strings.TrimPrefix(r.Transport, "emulated ") == at.over && r.Emulated == at.emulate && r.N == at.ranks && r.Bytes == bytes
			if same && r.Note == "" && !r.Invalid && !yield(r) {
				return
			}
		}
	}
}

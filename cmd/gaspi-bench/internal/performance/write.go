package performance

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// method is the paragraph that says how figures come about.
const method = `A figure is the median of rounds in which the runtime, its limit and each library run in turns, in processes
of their own: [decision 0020](decisions/0020-measurements-take-turns-with-their-limit.md). The limit is the least that the
machine needs to do the same. A cell has our time, and in parentheses our time by the limit's and that of the fastest
way of MPI by ours: above 1, ours is faster. Sums are of float64, in place in memory of Alloc.`

// intro is the text before the method.
const intro = `Written by gaspi-bench performance (--help has the command). [The guide](guide/tuning.md) says how to make a
program faster, [decision 0025](decisions/0025-a-command-writes-the-tables.md) has figures of applications, of starting,
and older ones.`

// WriteMarkdown writes the page: the method, when and where was measured, and a table for each
// quantity of which there is a row, with the command of the first.
func (m *Measured) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance\n\n%s\n\n%s\n\n%s\n", wrap(intro), wrap(method), wrap("Measured on "+m.Date+": "+m.Host+"."))
	for _, q := range quantities() {
		if !slices.ContainsFunc(m.Rows, func(r report.Row) bool { return slices.Contains(q.ops, r.Op) }) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s:\n\n%s", q.title, wrap("In "+q.unit), m.table(q))
		fmt.Fprintf(&b, "\n    gaspi-bench %s -n %d --transport shm --peer openmpi,mpich\n", q.ops[0], q.ranks[0])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes a quantity: a row for each number of ranks, transport and operation.
func (m *Measured) table(q quantity) string {
	head, sizes, bytes := []string{"ranks", "over", "operation"}, q.sizes, q.bytes
	if len(q.ops) == 1 {
		head = head[:2]
	}
	if len(bytes) == 0 {
		sizes, bytes = []string{"time"}, []uint64{0}
	}
	rows := [][]string{append(head, sizes...)}
	for _, n := range q.ranks {
		for _, transport := range transports() {
			for _, op := range q.ops {
				row := []string{strconv.Itoa(n), transport, op}[:len(head)]
				for _, size := range bytes {
					row = append(row, m.of(op, transport, n, size).cell())
				}
				rows = append(rows, row)
			}
		}
	}
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return b.String()
}

// cell is a figure in a table.
func (f figure) cell() string {
	if math.IsNaN(f.ours) {
		return "-"
	}
	return fmt.Sprintf("%s (%s, %s)", show(f.ours), show(f.ours/f.limit), show(f.peer/f.ours))
}

// show writes a number with three digits, or all those before the point.
func show(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// wrap breaks a paragraph into lines of at most lineLength bytes.
func wrap(text string) string {
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		switch {
		case length > 0 && length+1+len(word) > lineLength:
			b.WriteByte('\n')
			length = 0
		case length > 0:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// lineLength is how long a line of a document may be.
const lineLength = 120

// A shown is a row of the picture.
type shown struct {
	name, op, transport string
	bytes               uint64
}

// picture are the rows of the picture, of two ranks: short and long, over memory and sockets, and
// one where MPI is faster.
func picture() []shown {
	return []shown{
		{"8 bytes one way, shared memory", "latency", "shm", 8},
		{"barrier, shared memory", "barrier", "shm", 0},
		{"allreduce of 1 MiB, shared memory", "allreduce", "shm", 1 << 20},
		{"alltoall of 4 KiB, shared memory", "alltoall", "shm", 4 << 10},
		{"8 bytes one way, sockets", "latency", "tcp", 8},
		{"allreduce of 1 MiB, sockets", "allreduce", "tcp", 1 << 20},
		{"broadcast of 8 bytes, sockets", "broadcast", "tcp", 8},
	}
}

// Picture returns the drawing of some times and ratios. It fails if none of its rows was measured.
func (m *Measured) Picture() (chart.Ratios, error) {
	c := chart.Ratios{Title: "Two ranks beside the faster of Open MPI and MPICH", Axis: "time of MPI by ours: above 1, ours is faster"}
	for _, row := range picture() {
		f := m.of(row.op, row.transport, 2, row.bytes)
		if ratio := f.peer / f.ours; !math.IsNaN(ratio) {
			c.Rows = append(c.Rows, chart.Ratio{Name: row.name, Note: fmt.Sprintf("%s us, %sx", show(f.ours), show(ratio)), Value: ratio})
		}
	}
	if len(c.Rows) == 0 {
		return c, fmt.Errorf("no row of the picture was measured beside a library; measure with --peer")
	}
	return c, nil
}

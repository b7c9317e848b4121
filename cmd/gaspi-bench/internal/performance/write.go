package performance

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// method is the paragraph that says how figures come about.
const method = `A figure is the median of rounds in which the runtime, its limit and each library run in turns, in processes
of their own: [decision 0020](decisions/0020-measurements-take-turns-with-their-limit.md). The limit is the least that the
machine needs to do the same. A cell has our time, and in parentheses our time by the limit's and that of the fastest
way of MPI by ours: above 1, ours is faster. Where few ranks are measured beside MPI, all sides bind each to a core, as
[decision 0043](decisions/0043-neighbours-share-a-core.md) says. Sums are of float64, in place in memory of Alloc.`

// intro is the text before the method.
const intro = `Written by gaspi-bench performance (--help has the command). [The guide](guide/tuning.md) says how to make a
program faster, [decision 0025](decisions/0025-a-command-writes-the-tables.md) has figures of applications, of starting,
and older ones.`

// WriteMarkdown writes the page: the method, when and where was measured, and a table for each
// quantity of which there is a row, with the command of the first.
func (m *Measured) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Performance\n\n%s\n\n%s\n\n%s\n", wrap(intro), wrap(method), wrap("Measured on "+m.Date+": "+m.Host+"."))
	for _, t := range tables() {
		rows := t.rows(m)
		if !slices.ContainsFunc(rows, t.measured) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s:\n\n", t.title, wrap("In "+t.unit))
		for i, row := range append([][]string{t.head()}, rows...) {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
			}
		}
		fmt.Fprintf(&b, "\n    gaspi-bench %s\n", strings.Join(t.example(), " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// head is the first row of a table.
func (t *table) head() []string {
	head := []string{"ranks", "over"}
	if len(t.ops) > 1 {
		head = append(head, "operation")
	}
	for _, c := range t.columns {
		head = append(head, c.head)
	}
	return head
}

// rows are the further ones: one for each setup, and for each operation if there are several.
func (t *table) rows(m *Measured) [][]string {
	var rows [][]string
	for _, at := range t.setups {
		for _, op := range t.ops {
			row := []string{strconv.Itoa(at.ranks), strings.TrimSuffix(at.over+", "+at.emulate, ", ")}
			if len(t.ops) > 1 {
				row = append(row, op)
			}
			for _, c := range t.columns {
				row = append(row, c.cell(m, at, op))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// measured says whether a row has a figure.
func (t *table) measured(row []string) bool {
	return slices.ContainsFunc(row[len(row)-len(t.columns):], func(cell string) bool { return cell != missing })
}

// example is the command line of the first row, for all sizes that the operation has by itself.
func (t *table) example() []string {
	c, at := t.commands[0], t.setups[0]
	args := slices.Concat([]string{c.name}, at.flags(), c.flags)
	if c.beside != nil {
		args = append(args, "--peer", strings.Join(c.beside([]string{"openmpi", "mpich"}), ","))
	}
	return args
}

// missing is a cell of what was not measured.
const missing = "-"

// cell is a figure in a table.
func (f figure) cell() string {
	if math.IsNaN(f.ours) {
		return missing
	}
	return fmt.Sprintf("%s (%s, %s)", show(f.ours), show(f.ours/f.limit), show(f.peer/f.ours))
}

// withPeer is cell without the limit.
func (f figure) withPeer() string {
	if math.IsNaN(f.ours) {
		return missing
	}
	return fmt.Sprintf("%s (%s)", show(f.ours), show(f.peer/f.ours))
}

// show writes a number with three digits, or all those before the point.
func show(x float64) string {
	switch {
	case math.IsNaN(x):
		return missing
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// percent writes a part of something.
func percent(x float64) string {
	if math.IsNaN(x) {
		return missing
	}
	return fmt.Sprintf("%.1f %%", 100*x)
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
		f := m.of(row.op, setup{ranks: 2, over: row.transport}, row.bytes)
		if ratio := f.peer / f.ours; !math.IsNaN(ratio) {
			c.Rows = append(c.Rows, chart.Ratio{Name: row.name, Note: fmt.Sprintf("%s us, %sx", show(f.ours), show(ratio)), Value: ratio})
		}
	}
	if len(c.Rows) == 0 {
		return c, fmt.Errorf("no row of the picture was measured beside a library; measure with --peer")
	}
	return c, nil
}

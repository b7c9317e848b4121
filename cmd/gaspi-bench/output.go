package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// An output is where rank 0 shows what it measures. A nil output shows nothing,
// which is what the other ranks have.
type output struct {
	table    *os.File
	progress *os.File // nil unless it is a terminal
	json     *os.File // nil if nobody asked
	headed   bool
	// algorithms says that rows name one.
	algorithms bool
	head       string

	osu  bool   // rows are written at the end, in OSU's format, instead of the table
	plot string // file of a drawing; empty for none
	kept []row  // for both

	apart bool // each of our algorithms is a contender of its own

	begun  time.Time
	stolen time.Duration // as stolen said then
}

// newOutput opens the files. head is the line that says what is measured where.
func newOutput(o *options, stdout, stderr *os.File, head string) (*output, error) {
	out := &output{table: stdout, begun: time.Now(), stolen: stolen(), head: head, algorithms: o.collective != nil || len(o.object.static) > 0, osu: o.osu, plot: o.plot}
	out.apart = o.collective != nil && o.collective.algorithm == algorithmAll
	if term.IsTerminal(int(stderr.Fd())) {
		out.progress = stderr
	}
	if o.json == "" {
		return out, nil
	}
	f, err := os.Create(o.json)
	if err != nil {
		return nil, unwritable("--json", o.json, err)
	}
	out.json = f
	return out, nil
}

// tryFiles finds out early whether results can be written.
func (o *options) tryFiles() error {
	return errors.Join(tryOpen("--json", o.json), tryOpen("--plot", o.plot))
}

// tryOpen finds out early whether rows can be written.
func tryOpen(flag, name string) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return unwritable(flag, name, err)
	}
	return f.Close()
}

func unwritable(flag, name string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s %s: %w; name a file that can be written", flag, name, err)
}

// doing says on a terminal what takes so long.
func (out *output) doing(op string, bytes uint64) {
	if out == nil || out.progress == nil {
		return
	}
	what := op
	if bytes > 0 {
		what += " of " + bytesize.Format(bytes)
	}
	fmt.Fprintf(out.progress, "\r\x1b[Kmeasuring %s ...", what)
}

// done takes back what doing said.
func (out *output) done() {
	if out.progress != nil {
		fmt.Fprint(out.progress, "\r\x1b[K")
	}
}

// show prints the rows of a workload.
func (out *output) show(rows []row) error {
	if out == nil {
		return nil
	}
	out.done()
	out.kept = append(out.kept, rows...)
	lines := tableLines(rows, out.algorithms)
	if !out.headed {
		out.headed = true
		lines = append([]string{out.head, tableHead(out.algorithms)}, lines...)
	}
	if err := out.printTable(lines); err != nil {
		return err
	}
	if out.json == nil {
		return nil
	}
	return writeJSON(out.json, rows)
}

// printTable is print for what OSU's format takes the place of.
func (out *output) printTable(lines []string) error {
	if out.osu {
		return nil
	}
	return out.print(lines)
}

func (out *output) print(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(out.table, line); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

// close writes what waited for the last row, and ends the JSON file.
func (out *output) close() error {
	if out == nil {
		return nil
	}
	return errors.Join(out.finish(), out.closeJSON())
}

// finish writes rows in OSU's format and draws them, as far as that is wanted.
func (out *output) finish() error {
	if len(out.kept) == 0 {
		return nil
	}
	if out.osu {
		if err := out.print(osuLines(out.kept, out.apart)); err != nil {
			return err
		}
	}
	if out.plot == "" {
		return nil
	}
	return plotRows(out.plot, out.head, out.kept, out.apart)
}

func (out *output) closeJSON() error {
	if out.json == nil {
		return nil
	}
	if err := out.json.Close(); err != nil {
		return fmt.Errorf("writing rows: %w", err)
	}
	return nil
}

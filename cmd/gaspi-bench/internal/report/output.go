package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// Forms says in which forms rows are wanted.
type Forms struct {
	JSON string // file for the rows; empty for none
	Plot string // file of a drawing; empty for none
	OSU  bool   // OSU's format, at the end, instead of the table
	// Algorithms says that rows name one, Apart that each of ours is a contender of its own.
	Algorithms, Apart bool
}

// Try finds out early whether results can be written.
func (f *Forms) Try() error {
	return cmp.Or(TryOpen("--json", f.JSON), TryOpen("--plot", f.Plot))
}

// TryOpen finds out early whether the file that a flag names can be written. It leaves
// what is in the file, and no file where there was none. There is nothing to find out about an empty name.
func TryOpen(flag, name string) error {
	if name == "" {
		return nil
	}
	_, before := os.Lstat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return Unwritable(flag, name, err)
	}
	err = f.Close()
	if errors.Is(before, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// A Printer is where rank 0 shows what it measures. A nil output shows nothing,
// which is what the other ranks have.
type Printer struct {
	forms    Forms
	table    *os.File
	progress *os.File // nil unless it is a terminal
	json     *os.File // nil if nobody asked
	head     string
	headed   bool
	kept     []Row // for the forms that are written at the end

	begun  time.Time
	stolen time.Duration // as stolen said then
}

// NewPrinter opens the files. head is the line that says what is measured where.
func NewPrinter(forms Forms, stdout, stderr *os.File, head string) (*Printer, error) {
	out := &Printer{forms: forms, table: stdout, begun: time.Now(), stolen: stolen(), head: head}
	if term.IsTerminal(int(stderr.Fd())) {
		out.progress = stderr
	}
	if forms.JSON == "" {
		return out, nil
	}
	f, err := os.Create(forms.JSON)
	if err != nil {
		return nil, Unwritable("--json", forms.JSON, err)
	}
	out.json = f
	return out, nil
}

// Unwritable says that the file which a flag names cannot be written.
func Unwritable(flag, name string, err error) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return fmt.Errorf("%s %s: %w; name a file that can be written", flag, name, err)
}

// Doing says on a terminal what takes so long: an operation, and its bytes if they are
// not 0.
func (out *Printer) Doing(op string, bytes uint64) {
	what := op
	if bytes > 0 {
		what += " of " + bytesize.Format(bytes)
	}
	out.Progress("measuring " + what)
}

// Progress says on a terminal what takes so long.
func (out *Printer) Progress(what string) {
	if out.Terminal() {
		fmt.Fprintf(out.progress, "\r\x1b[K%s ...", what)
	}
}

// Terminal reports whether there is a terminal to say that on.
func (out *Printer) Terminal() bool { return out != nil && out.progress != nil }

// Done takes back what Doing or Progress said.
func (out *Printer) Done() {
	if out.Terminal() {
		fmt.Fprint(out.progress, "\r\x1b[K")
	}
}

// Shown is how many rows were shown.
func (out *Printer) Shown() int { return len(out.kept) }

// Show prints the rows of a workload.
func (out *Printer) Show(rows []Row) error {
	if out == nil {
		return nil
	}
	lines := tableLines(rows, out.forms.Algorithms)
	if !out.headed {
		lines = append([]string{tableHead(out.forms.Algorithms)}, lines...)
	}
	return out.ShowAs(lines, rows)
}

// ShowAs is Show for rows whose table is made of these lines.
func (out *Printer) ShowAs(lines []string, rows []Row) error {
	if out == nil {
		return nil
	}
	out.kept = append(out.kept, rows...)
	if !out.forms.OSU {
		if err := out.PrintHeaded(lines); err != nil {
			return err
		}
	}
	out.Done()
	for i := range rows {
		if err := out.Encode("rows", &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// PrintHeaded is Print; the line that says what is measured where comes before the
// first lines that it prints.
func (out *Printer) PrintHeaded(lines []string) error {
	if out == nil {
		return nil
	}
	if !out.headed {
		out.headed = true
		lines = append([]string{out.head}, lines...)
	}
	return out.Print(lines)
}

// Print prints lines.
func (out *Printer) Print(lines []string) error {
	if out == nil {
		return nil
	}
	out.Done()
	for _, line := range lines {
		if _, err := fmt.Fprintln(out.table, line); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

// Encode writes a value as a line of the JSON file, if there is one. An error names what
// it is of.
func (out *Printer) Encode(what string, value any) error {
	if out == nil || out.json == nil {
		return nil
	}
	return encode(out.json, what, value)
}

func encode(w io.Writer, what string, value any) error {
	if err := json.NewEncoder(w).Encode(value); err != nil {
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}

// Close writes what waited for the last row, and ends the JSON file.
func (out *Printer) Close() error {
	if out == nil {
		return nil
	}
	return errors.Join(out.finish(), out.closeJSON())
}

// finish writes rows in OSU's format and draws them, as far as that is wanted.
func (out *Printer) finish() error {
	if len(out.kept) == 0 {
		return nil
	}
	if out.forms.OSU {
		if err := out.Print(osuLines(out.kept, out.forms.Apart)); err != nil {
			return err
		}
	}
	if out.forms.Plot == "" {
		return nil
	}
	return plotRows(out.forms.Plot, out.head, out.kept, out.forms.Apart)
}

func (out *Printer) closeJSON() error {
	if out.json == nil {
		return nil
	}
	if err := out.json.Close(); err != nil {
		return fmt.Errorf("writing rows: %w", err)
	}
	return nil
}

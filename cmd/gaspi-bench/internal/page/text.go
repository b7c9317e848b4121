package page

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
)

// WriteText writes a result for a terminal: tables, then a line for each verdict.
func WriteText(w io.Writer, r *figure.FigureResult) error {
	t := &sticky{w: w}
	f := r.Figure
	t.printf("%s: %s of %q: %s\n%s\n", f.Name, f.Place, f.Paper.Title, f.Title, f.About)
	for _, p := range r.Parts {
		if p.Missing != "" {
			t.printf("\n%s: not measured: %s\n", p.Way, p.Missing)
			continue
		}
		t.printf("\n%s: %s\n", p.Way, p.Setting)
		if p.Doubt != "" {
			t.printf("not valid: %s\n", p.Doubt)
		}
		if p.Cut != "" {
			t.printf("not complete: %s\n", p.Cut)
		}
		for i := range p.Tables {
			writeTable(t, &p.Tables[i])
		}
		t.printf("\n")
		for i := range p.Verdicts {
			t.printf("  %s\n", p.Verdicts[i].Line())
		}
	}
	return t.err
}

// writeTable writes a table in columns.
func writeTable(w io.Writer, table *figure.Table) {
	fmt.Fprintf(w, "\n  %s\n", table.Title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{table.Head}, table.Rows...) {
		fmt.Fprintf(tw, "  %s\n", strings.Join(row, "\t"))
	}
	tw.Flush()
}

// A sticky writer keeps its first error.
type sticky struct {
	w   io.Writer
	err error
}

func (s *sticky) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

func (s *sticky) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

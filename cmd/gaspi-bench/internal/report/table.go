package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

// tableFormat is the columns. They have fixed widths, because rows are printed
// as they come.
const tableFormat = "%-16s %7s  %-6s %-*s%11s %11s %11s %9s %9s %9s %9s %7s"

// algorithmWidth is the width of the column of algorithms, 0 where there is none.
func algorithmWidth(withAlgorithm bool) int {
	if withAlgorithm {
		return 27
	}
	return 0
}

// tableHead is the line above the rows.
func tableHead(withAlgorithm bool) string {
	title := ""
	if withAlgorithm {
		title = "algorithm"
	}
	return Trimmed(fmt.Sprintf(tableFormat, "op", "bytes", "impl", algorithmWidth(withAlgorithm), title, "min us", "p50 us", "p99 us", "GB/s", "cpu s/GB", "M/s", "allocs/op", "ratio"))
}

// tableLines are the rows of one workload, the first compared with the limit.
func tableLines(rows []Row, withAlgorithm bool) []string {
	limit := 0.0
	for _, r := range rows {
		if r.Impl == ImplLimit {
			limit = r.P50US
		}
	}
	var lines []string
	for _, r := range rows {
		ratio := ""
		if r.Impl != ImplLimit && limit > 0 {
			ratio = fmt.Sprintf("%.2fx", r.P50US/limit)
		}
		allocs := ""
		if r.AllocsPerOp != nil {
			allocs = fmt.Sprint(*r.AllocsPerOp)
		}
		bytes := "-"
		if r.Bytes > 0 {
			bytes = bytesize.Format(r.Bytes)
		}
		lines = append(lines, Trimmed(fmt.Sprintf(tableFormat, r.Op, bytes, r.Impl, algorithmWidth(withAlgorithm), r.Algorithm,
			Number(r.MinUS), Number(r.P50US), Number(r.P99US), optional(r.GBPerS), optional(r.CPUSPerGB), optional(r.PerS/1e6), allocs, ratio)))
		if r.CPUUSPerCall > 0 {
			lines = append(lines, fmt.Sprintf("  processor time of a rank: %s us a call", Number(r.CPUUSPerCall)))
		}
		if r.Invalid {
			lines = append(lines, fmt.Sprintf("  INVALID: %.0f%% of the messages were late; this host cannot carry the emulated network", 100*r.LateShare))
		}
	}
	if len(rows) > 0 && rows[0].Remark != "" {
		lines = append(lines, "  "+rows[0].Remark)
	}
	if len(rows) > 0 && rows[0].LinksUS > 0 {
		lines = append(lines, linksLine(rows))
	}
	return lines
}

// linksLine compares rows with what the links take alone.
func linksLine(rows []Row) string {
	line := fmt.Sprintf("  links alone: %s us by %s", Number(rows[0].LinksUS), rows[0].LinksBy)
	for _, r := range rows {
		name := r.Impl
		if r.Impl == ImplStatic {
			name = r.Algorithm
		}
		line += fmt.Sprintf("; %s %.3fx", name, r.P50US/r.LinksUS)
	}
	return line
}

// Trimmed returns a line without the blanks at its end.
func Trimmed(line string) string { return strings.TrimRight(line, " ") }

// Number writes a number with about four digits that mean something.
func Number(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.4f", x)
	case x < 1000:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}

// optional is a figure that does not apply to all rows.
func optional(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

// list joins the words that there are.
func list(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}

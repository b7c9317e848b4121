package dnn

import (
	"fmt"
	"strings"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
)

const tableFormat = "%-9s %-12s %9s %8v  %-22s %11s %11s %11s %11s %7s %10s %6s"

// Table is results as aligned lines, the first of which names the columns. Rows that
// are not valid say so.
func Table(results []ContenderResult) []string {
	lines := []string{line("model", "mode", "fuse", "messages", "algorithm", "step ms", "compute ms", "comm ms", "exposed ms", "hidden", "samples/s", "gain")}
	for _, r := range results {
		if r.Mode == Silent {
			lines = append(lines, line(r.Model, r.Mode, "", "", "", millis(r.P50US), millis(r.ComputeUS), "", "", "", fmt.Sprintf("%.1f", r.SamplesPerS), ""))
			continue
		}
		algorithm := r.Algorithm
		if r.Chosen != "" {
			algorithm += " (" + r.Chosen + ")"
		}
		lines = append(lines, line(r.Model, r.Mode, bytesize.Format(uint64(r.Fuse)), r.Messages, algorithm, millis(r.P50US), millis(r.ComputeUS), millis(r.CommUS),
			millis(r.ExposedUS), fmt.Sprintf("%.0f%%", 100*r.Hidden), fmt.Sprintf("%.1f", r.SamplesPerS), fmt.Sprintf("%.2fx", r.Gain)))
	}
	for i, r := range results {
		if r.Invalid {
			lines[1+i] += "  INVALID: the host could not carry the emulated network"
		}
	}
	return lines
}

func line(columns ...any) string {
	return strings.TrimRight(fmt.Sprintf(tableFormat, columns...), " ")
}

func millis(us float64) string { return fmt.Sprintf("%.3f", us/1e3) }

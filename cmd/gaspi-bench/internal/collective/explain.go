package collective

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// candidateLines are the candidates for a call, with what the model says of each.
func candidateLines(op string, bytes uint64, all []collectives.Candidate) []string {
	of := ""
	if bytes > 0 {
		of = " of " + bytesize.Format(bytes)
	}
	lines := []string{fmt.Sprintf("%s%s, predicted:", op, of)}
	for _, c := range all {
		mark := ""
		if c.Chosen {
			mark = "  chosen"
		}
		lines = append(lines, report.Trimmed(fmt.Sprintf("  %-32s %11s us%s", c.Algorithm, report.Number(c.Seconds*1e6), mark)))
	}
	return lines
}

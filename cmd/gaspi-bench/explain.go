package main

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/collectives"
)

// explain prints the candidates for a call.
func (out *output) explain(op string, bytes uint64, all []collectives.Candidate) error {
	if out == nil {
		return nil
	}
	out.done()
	var lines []string
	if !out.headed {
		out.headed = true
		lines = append(lines, out.head)
	}
	of := ""
	if bytes > 0 {
		of = " of " + bytesize.Format(bytes)
	}
	lines = append(lines, fmt.Sprintf("%s%s, predicted:", op, of))
	for _, c := range all {
		mark := ""
		if c.Chosen {
			mark = "  chosen"
		}
		lines = append(lines, trimmed(fmt.Sprintf("  %-32s %11s us%s", c.Algorithm, figure(c.Seconds*1e6), mark)))
	}
	return out.print(lines)
}

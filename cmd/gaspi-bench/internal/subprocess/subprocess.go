// Package subprocess starts gaspi-bench as a process of its own and reads the rows that it
// writes. It does not know what is measured.
package subprocess

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// A Runner starts gaspi-bench.
type Runner struct {
	Program string        // its file
	Env     []string      // added to the environment
	Time    time.Duration // for each row; 0 if the operation takes as long as it does
}

// patience is how long the command may take to end its ranks after an interrupt.
const patience = 5 * time.Second

// Rows runs gaspi-bench with arguments and returns all rows that it wrote. If ctx ends, the
// command is interrupted, so that it ends its ranks; the rows are those until then, and the
// error is that of ctx. Another error has the last line that the command wrote to its standard
// error.
func (r *Runner) Rows(ctx context.Context, args ...string) ([]report.Row, error) {
	dir, err := os.MkdirTemp("", "gaspi-bench-rows-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "rows.json")
	all := slices.Clone(args)
	if r.Time > 0 {
		all = append(all, "--time", r.Time.String())
	}
	cmd := exec.CommandContext(ctx, r.Program, append(all, "--json", file)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the launcher then ends the ranks
	cmd.WaitDelay = patience
	cmd.Env = append(os.Environ(), r.Env...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	err = cmd.Run()
	if ctx.Err() != nil {
		rows, _ := report.ReadRows(file) // of which the last may be half written: then there are none
		return rows, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("gaspi-bench %s: %w: %s", strings.Join(args, " "), err, LastLine(complaint.String()))
	}
	return report.ReadRows(file)
}

// LastLine returns the last line of a text. Empty lines at its end do not count.
func LastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

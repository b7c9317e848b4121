package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/page"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/performance"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

const commandPerformance = "performance"

// A performanceCommand is the command line of performance.
type performanceCommand struct {
	rows, out, picture string // files
	measure            bool
	plan               performance.Benchmarks
}

func (c *performanceCommand) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("gaspi-bench "+commandPerformance, pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringVar(&c.rows, "rows", "performance.json", "`FILE` of the rows that tables are made of")
	f.StringVar(&c.out, "out", "PERFORMANCE.md", "write the tables to `FILE`")
	f.StringVar(&c.picture, "picture", "", "also draw some ratios into `FILE`, an SVG for light pages and one for\ndark ones: the word is put before the ending")
	f.BoolVar(&c.measure, "measure", false, "measure first, and write the rows")
	f.StringSliceVar(&c.plan.Peers, "peer", nil, "measure libraries in turns with the runtime, a `LIST` of\nopenmpi, mpich, or with its folder openmpi=DIR, mpich=DIR")
	f.IntVar(&c.plan.Repetitions, "repetitions", 5, "how often each side is measured beside libraries")
	f.DurationVar(&c.plan.Time, "time", 60*time.Millisecond, "how long to measure for one row")
	return f
}

// parse reads the command line.
func (c *performanceCommand) parse(args []string) error {
	f := c.flags()
	if err := f.Parse(args); err != nil {
		return explain(err, f)
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	case c.plan.Time <= 0:
		return fmt.Errorf("--time %v: expected more than 0, such as 100ms", c.plan.Time)
	case c.plan.Repetitions < 1:
		return fmt.Errorf("--repetitions %d: expected at least 1", c.plan.Repetitions)
	}
	for _, name := range []string{"peer", "repetitions", "time"} {
		if f.Changed(name) && !c.measure {
			return fmt.Errorf("--%s: nothing is measured; add --measure", name)
		}
	}
	if err := checkApart(f, "rows", "out"); err != nil {
		return err
	}
	return checkLibraries(c.plan.Peers)
}

// checkLibraries finds names that --peer of figure, report and performance does not take.
func checkLibraries(names []string) error {
	for _, name := range names {
		if !peer.MPI(name) {
			return fmt.Errorf("--peer %q: expected a list of openmpi, mpich", name)
		}
		if err := peer.Check(name); err != nil {
			return fmt.Errorf("--peer %q: %w", name, err)
		}
	}
	return nil
}

// runPerformance is run for performance.
func runPerformance(args []string, stdout, stderr *os.File) int {
	c := &performanceCommand{}
	err := c.parse(args[1:])
	return runCommand(args[0], err, performanceHelp, func(ctx context.Context) error { return c.run(ctx, stderr) }, stdout, stderr)
}

func (c *performanceCommand) run(ctx context.Context, stderr io.Writer) error {
	if c.measure {
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding this program to start it as ranks: %w", err)
		}
		c.plan.Program = program
		c.plan.Doing = func(command string) { fmt.Fprintf(stderr, "gaspi-bench %s\n", command) }
		if err := c.plan.Measure(ctx, c.rows, page.ThisHost().String()); err != nil {
			return fmt.Errorf("%w; %s has the rows until then", err, c.rows)
		}
	}
	m, err := performance.Load(c.rows)
	if err != nil {
		return err
	}
	if err := report.WriteFile("writing", c.out, m.WriteMarkdown); err != nil || c.picture == "" {
		return err
	}
	drawing, err := m.Picture()
	if err != nil {
		return err
	}
	for word, theme := range map[string]chart.Theme{"light": chart.Light, "dark": chart.Dark} {
		draw := func(w io.Writer) error { return drawing.WriteSVG(w, theme) }
		if err := report.WriteFile("writing", insert(c.picture, word), draw); err != nil {
			return err
		}
	}
	return nil
}

// performanceHelp is what --help prints.
func performanceHelp() string {
	return `Usage: gaspi-bench performance [flags]

Writes tables of times beside the limit and MPI, as Markdown, and a picture of some of
them, from rows that --measure measures. docs/PERFORMANCE.md is written by
  gaspi-bench performance --measure --peer openmpi,mpich --rows docs/figures/performance.json \
    --out docs/PERFORMANCE.md --picture docs/figures/speed.svg
and without --measure and --peer from the rows that are there.

Flags:
` + new(performanceCommand).flags().FlagUsages() + exitCodes
}

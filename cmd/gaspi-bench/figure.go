package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	figures "github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/figure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/page"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/subprocess"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// The commands that are no operation.
const (
	commandFigure = "figure"
	commandReport = "report"
)

// figureOptions are what the command lines of figure and report say.
type figureOptions struct {
	command string
	name    string // of the figure
	list    bool
	ways    string
	svg     string // file of the drawing
	out     string // file of the report
	quick   bool
	time    time.Duration
	rounds  int
	budget  time.Duration
	peers   []string
}

// isFigures reports whether a command line is one of figure or report.
func isFigures(args []string) bool {
	return len(args) > 0 && (args[0] == commandFigure || args[0] == commandReport)
}

// runFigures is run for figure and report.
func runFigures(args []string, stdout, stderr *os.File) int {
	o, err := parseFigures(args)
	return runCommand(args[0], err, func() string { return figuresHelp(args[0]) }, func(ctx context.Context) error { return o.run(ctx, stdout, stderr) }, stdout, stderr)
}

// runCommand does what a command with flags of its own is to do, after its command line was
// read with an error or none, and returns the exit code. The ranks that it starts get the signal
// that ends its context too, and leave nothing behind.
func runCommand(name string, err error, help func() string, run func(ctx context.Context) error, stdout, stderr *os.File) int {
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return show(help(), stdout, stderr)
	case err != nil:
		return decline(err, "gaspi-bench "+name+" --help", stderr)
	}
	ctx, stop := interruptible(context.Background())
	defer stop()
	if err := run(ctx); err != nil {
		say(stderr, err)
		return exitFailed
	}
	return 0
}

func figureFlags(o *figureOptions) *pflag.FlagSet {
	f := pflag.NewFlagSet("gaspi-bench "+o.command, pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringVar(&o.ways, "way", "simulated,emulated,raw", "how numbers come about, a `LIST` of simulated, emulated and raw")
	f.BoolVar(&o.quick, "quick", false, "look at fewer points, once each")
	f.DurationVar(&o.time, "time", 60*time.Millisecond, "how long to measure for one row")
	f.IntVar(&o.rounds, "rounds", 3, "how often each row is measured, at most; the median counts")
	f.StringSliceVar(&o.peers, "peer", nil, "measure libraries beside the runtime where ranks are real, a `LIST`\nof openmpi, mpich, or with its folder openmpi=DIR, mpich=DIR")
	if o.command == commandReport {
		f.DurationVar(&o.budget, "budget", 24*time.Second, "how long a figure may take in each way that measures; it then\nhas what there is")
		f.StringVar(&o.out, "out", "report.html", "write the page to `FILE`")
		return f
	}
	f.DurationVar(&o.budget, "budget", 2*time.Minute, "how long the figure may take in each way that measures; it then\nhas what there is")
	f.BoolVar(&o.list, "list", false, "list the figures")
	f.StringVar(&o.svg, "svg", "", "draw into `FILE`, one for each way: the name of the way is put before\nits ending (default NAME.svg)")
	return f
}

// parseFigures reads the command line.
func parseFigures(args []string) (*figureOptions, error) {
	o := &figureOptions{command: args[0]}
	f := figureFlags(o)
	if err := f.Parse(args[1:]); err != nil {
		return nil, explain(err, f)
	}
	wanted := 0
	if o.command == commandFigure && !o.list {
		wanted = 1
	}
	switch {
	case os.Getenv(envRank) != "":
		return nil, fmt.Errorf("%s starts its own ranks; run it without gaspi-run", o.command)
	case f.NArg() < wanted:
		return nil, errors.New("no figure was named; gaspi-bench figure --list names them")
	case f.NArg() > wanted:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(wanted))
	case o.time <= 0 || o.budget <= 0:
		return nil, fmt.Errorf("--time %v, --budget %v: expected more than 0, such as 100ms or 30s", o.time, o.budget)
	case o.rounds < 1:
		return nil, fmt.Errorf("--rounds %d: expected at least 1", o.rounds)
	}
	if err := checkLibraries(o.peers); err != nil {
		return nil, err
	}
	o.name = f.Arg(0)
	if o.svg == "" {
		o.svg = o.name + ".svg"
	}
	if wanted > 0 {
		if _, err := figures.Lookup(o.name); err != nil {
			return nil, err
		}
	}
	_, err := figures.ParseWays(o.ways)
	if err != nil {
		err = fmt.Errorf("--way: %w", err)
	}
	return o, err
}

func (o *figureOptions) run(ctx context.Context, stdout, stderr *os.File) error {
	if o.list {
		return listFigures(stdout)
	}
	lab, err := o.lab(stderr)
	if err != nil {
		return err
	}
	if o.command == commandReport {
		return o.report(ctx, lab, stdout, stderr)
	}
	return o.one(ctx, lab, stdout)
}

func listFigures(w io.Writer) error {
	for _, f := range figures.All() {
		if _, err := fmt.Fprintf(w, "%-20s %-9s %s\n", f.Name, f.Place, f.Title); err != nil {
			return err
		}
	}
	return nil
}

// lab is what figures are made with: this program, in processes of their own.
func (o *figureOptions) lab(stderr *os.File) (*figures.Lab, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program to start it as ranks: %w", err)
	}
	ways, err := figures.ParseWays(o.ways)
	if err != nil {
		return nil, err
	}
	cores, err := thread.Cores()
	if err != nil {
		return nil, err
	}
	lab := &figures.Lab{
		Bench: figures.Bench{Runner: subprocess.Runner{Program: program, Time: o.time}, Rounds: o.rounds},
		Ways:  ways, Quick: o.quick, Budget: o.budget, Cores: len(cores), Peers: o.peers,
	}
	if o.quick {
		lab.Bench.Rounds = 1
	}
	if term.IsTerminal(int(stderr.Fd())) {
		lab.Bench.Doing = func(what string) { fmt.Fprintf(stderr, "\r\x1b[Kmeasuring %s ...", what) }
		lab.Bench.Done = func() { fmt.Fprint(stderr, "\r\x1b[K") }
	}
	return lab, nil
}

// one makes a figure. It shows what was measured before an interrupt.
func (o *figureOptions) one(ctx context.Context, lab *figures.Lab, stdout io.Writer) error {
	f, err := figures.Lookup(o.name)
	if err != nil {
		return err
	}
	if err := tryWrite("--svg", o.svg); err != nil {
		return err
	}
	r, interrupted := lab.Run(ctx, f)
	if interrupted != nil && !r.Made() {
		return errors.New("interrupted; nothing was measured")
	}
	if err := o.show(f, r, stdout); err != nil {
		return err
	}
	switch {
	case interrupted != nil:
		return errors.New("interrupted; shown is what was measured until then")
	case !r.Made():
		return fmt.Errorf("nothing was measured: %s", r.WhyNot())
	}
	return figures.Unmeasured(r)
}

// show prints a figure and draws it.
func (o *figureOptions) show(f *figures.Figure, r *figures.FigureResult, stdout io.Writer) error {
	if err := page.WriteText(stdout, r); err != nil {
		return err
	}
	for _, p := range r.Parts {
		for i, c := range p.Charts {
			name := insert(o.svg, p.Way.String())
			if i > 0 {
				name = insert(name, fmt.Sprint(i+1))
			}
			c.Title = f.Title + ", " + c.Title
			if err := report.WriteFile("writing", name, c.WriteSVG); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "drawn: %s\n", name)
		}
	}
	return nil
}

// insert puts a word before the ending of the name of a file.
func insert(name, word string) string {
	ending := filepath.Ext(name)
	return strings.TrimSuffix(name, ending) + "-" + word + ending
}

// figuresHelp is what --help prints.
func figuresHelp(command string) string {
	o := &figureOptions{command: command}
	if command == commandReport {
		return `Usage: gaspi-bench report [flags]

Makes all figures that "gaspi-bench figure --list" names, and writes them into one page
of HTML that needs nothing else: charts, tables, what the papers say beside what came
out, and the machine.

Flags:
` + figureFlags(o).FlagUsages() + exitCodes
	}
	return `Usage: gaspi-bench figure NAME [flags]
       gaspi-bench figure --list

Makes a figure of one of the papers in up to three ways: simulated at the paper's own
size, on emulated links, and on this machine as it is. It prints the numbers, and for
each statement of the paper whether it holds, and draws an SVG for each way.

Flags:
` + figureFlags(o).FlagUsages() + exitCodes
}

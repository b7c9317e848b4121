package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/dnn"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

const dnnName = "dnn"

// isDNN reports whether a command line asks for the replay of training, which has
// flags of its own.
func isDNN(args []string) bool { return len(args) > 0 && args[0] == dnnName }

// A dnnCommand is what the command line of dnn says.
type dnnCommand struct {
	cfg                 dnn.Config
	fuse, ways, compute string
	modes               []string
	plot                string // file for the chart; empty for none
	simulate            bool
}

// parseDNN reads a command line that begins with dnn. Its error is one sentence.
func parseDNN(args []string) (*options, error) {
	o := &options{args: args, op: operation{Benchmark: measure.Benchmark{Name: dnnName, MinRanks: 1}}, measured: measure.Rules{Time: 1}}
	c := &dnnCommand{}
	f := c.flags(o)
	if err := f.Parse(args[1:]); err != nil {
		return nil, explain(err, f)
	}
	o.inherit(f)
	o.op.main = c.measure
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; the network is named by --model", f.Arg(0))
	}
	if err := checkNames(f); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := c.choose(f); err != nil {
		return nil, err
	}
	if c.simulate {
		for _, name := range []string{"transport", "bind", "repetitions", "compute"} {
			if f.Changed(name) {
				return nil, fmt.Errorf("--%s: --simulate starts no ranks; drop one of the two", name)
			}
		}
		o.simulate = c.price
	}
	return o, nil
}

func (c *dnnCommand) flags(o *options) *pflag.FlagSet {
	f := pflag.NewFlagSet("gaspi-bench dnn", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringVar(&c.cfg.Model, "model", "resnet50", "`NAME` of the network: "+strings.Join(dnn.Names(), ", "))
	o.addJob(f)
	f.StringVar(&c.fuse, "fuse", "0,64MiB", "`LIST` of bytes up to which gradients go in one message; 0 is a\nmessage for each gradient")
	f.StringVar(&c.ways, "algorithm", "auto", "`LIST` of algorithms of the allreduce; ringx4 cuts messages into\n4 segments that are under way together; auto: what the library\nchooses")
	f.StringSliceVar(&c.modes, "mode", nil, "`LIST` of ways to overlap; blocking: computing stops for each\nallreduce; threaded: one blocking call after the other beside\nthe computing; nonblocking: each starts as soon as its gradients\nare there (default all; with --simulate the first two)")
	f.IntVar(&c.cfg.Batch, "batch", 32, "`SAMPLES` per rank and step")
	f.Float64Var(&c.cfg.Rate, "flops", 1e12, "floating-point operations `PER-SECOND` of a rank: a layer takes\nits own by that")
	f.Float64Var(&c.cfg.Scale, "compute-scale", 1, "`FACTOR` on the time of computing")
	f.StringVar(&c.compute, "compute", "sleep", "sleep: as if an accelerator computed; spin: on the core of the\nrank")
	f.IntVar(&c.cfg.Repetitions, "repetitions", 5, "`STEPS` of each row, of which the median counts")
	f.BoolVar(&c.simulate, "simulate", false, "measure nothing; price the steps for -n nodes of the machine that\nGASPI_MACHINE names, behind the network of --emulate or one of\n25 Gbit/s")
	f.StringVar(&o.forms.JSON, "json", "", "also write one JSON object per row to `FILE`")
	f.StringVar(&c.plot, "plot", "", "also draw the rows to `FILE`, an SVG")
	return f
}

// choose reads lists and checks what they say.
func (c *dnnCommand) choose(f *pflag.FlagSet) error {
	for text := range strings.SplitSeq(c.fuse, ",") {
		size := uint64(0)
		if text != "0" {
			var err error
			if size, err = bytesize.Parse(text); err != nil {
				return fmt.Errorf("--fuse: %w; or 0", err)
			}
		}
		c.cfg.Fuse = append(c.cfg.Fuse, int(size))
	}
	for text := range strings.SplitSeq(c.ways, ",") {
		w, err := dnn.ParseWay(text)
		if err != nil {
			return fmt.Errorf("--algorithm: %w; or auto", err)
		}
		c.cfg.Ways = append(c.cfg.Ways, w)
	}
	for _, m := range c.modes {
		c.cfg.Modes = append(c.cfg.Modes, dnn.Mode(m))
	}
	switch c.compute {
	case "sleep", "spin":
		c.cfg.Spin = c.compute == "spin"
	default:
		return fmt.Errorf("--compute %q: expected sleep or spin", c.compute)
	}
	for _, name := range []string{"batch", "flops", "compute-scale", "repetitions"} {
		if v := f.Lookup(name).Value.String(); v == "0" {
			return fmt.Errorf("--%s 0: expected more than that", name)
		}
	}
	if c.simulate {
		if err := dnn.CheckSimulated(c.cfg.Modes); err != nil {
			return fmt.Errorf("--mode: %w", err)
		}
	}
	check := c.cfg // whose defaults are not those of a simulation
	return check.Check()
}

// measure is what each rank does.
func (c *dnnCommand) measure(ctx context.Context, p *gaspi.Proc, _ int, out *report.Printer) error {
	transport, err := measure.Transports(p)
	if err == nil && out != nil {
		err = report.TryOpen("--plot", c.plot)
	}
	if err != nil {
		return err
	}
	var progress func(done, of int)
	if out.Terminal() {
		progress = func(done, of int) { out.Progress(fmt.Sprintf("replaying %s: step %d of %d", c.cfg.Model, done, of)) }
	}
	results, err := dnn.Measure(ctx, p, c.cfg, progress)
	if err != nil {
		return err
	}
	for i := range results {
		results[i].Transport = transport
	}
	if err := c.show(out, results); err != nil {
		return err
	}
	// A rank that leaves early would end the waits of the others.
	return p.Barrier(ctx, p.World())
}

// show prints, writes and draws results.
func (c *dnnCommand) show(out *report.Printer, results []dnn.ContenderResult) error {
	if out == nil {
		return nil
	}
	if err := out.PrintHeaded(dnn.Table(results)); err != nil {
		return err
	}
	for _, r := range results {
		if err := out.Encode("rows", r); err != nil {
			return err
		}
	}
	if c.plot == "" {
		return nil
	}
	return report.Draw(c.plot, dnn.Chart(results))
}

// helpDNN is what gaspi-bench dnn --help prints.
func helpDNN() string {
	o := &options{}
	return `Usage: gaspi-bench dnn [flags]

Replays the communication of data-parallel training: the gradients of a network,
in the order in which its backward pass makes them, each reduced over all ranks
while the layers before it are still being computed. Computing is emulated by the
operations of each layer; the reductions are real, and their sums are checked.

Examples:
  gaspi-bench dnn --model resnet50 -n 4
  gaspi-bench dnn --model vgg11 --fuse 64MiB --algorithm auto,ring,ringx4 --plot vgg11.svg
  gaspi-bench dnn --model alexnet --simulate -n 9 --algorithm halving,ring,ringx4

Flags:
` + new(dnnCommand).flags(o).FlagUsages() + `
Columns: step is the median, of the slowest rank; comm is the time in which some
reduction was under way, exposed what communication adds to a step without it,
hidden the share of comm that did not; samples/s are those of all ranks; gain is
the first row with communication over this one.
` + exitCodes
}

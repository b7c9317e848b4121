package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/bytesize"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// collectiveFlags are the flags of collective operations before they are checked.
type collectiveFlags struct {
	collective
	dtypeName, opName, segment string
	rate                       string
}

func (g *collectiveFlags) add(f *pflag.FlagSet) {
	f.StringVar(&g.algorithm, "algorithm", algorithmAuto, "`NAME` of an algorithm of a collective operation; auto: what\nthe library chooses; all: a row for each")
	f.StringVar(&g.dtypeName, "dtype", "float64", "`TYPE` of elements: "+lines(dtypeNames()))
	f.StringVar(&g.opName, "op", "sum", "how elements are combined: "+opNames())
	f.IntVar(&g.segments, "segments", 0, "cut vectors into `K` segments that are under way together; with\n--segment-size, K at a time")
	f.StringVar(&g.segment, "segment-size", "", "cut vectors into segments of `BYTES`")
	f.Float64Var(&g.threshold, "threshold", 0, "`FRACTION` of the vector that broadcast or reduce sends, in (0,1]")
	f.Float64Var(&g.processes, "processes", 0, "`FRACTION` of the ranks that reduce combines, in (0,1]")
	f.IntVar(&g.root, "root", 0, "`RANK` that is the root")
	f.BoolVar(&g.plain, "plain", false, "vectors are ordinary slices instead of memory that all ranks\nreach. Limit: bare copies and folds through shared boxes of\n8 to 64 KiB with bare flags, the fastest of several ways")
	f.BoolVar(&g.plan, "plan", false, "measure runs of a plan instead of single calls")
	f.BoolVar(&g.noOp, "no-op", false, "combine by an operation that does nothing (allreduce and\nreduce): what is missing is exposed arithmetic")
	f.StringVar(&g.rate, "fold-rate", "", "make each rank combine at most `BYTES` per second (allreduce, reduce\nand reducescatter), as if its processor were that slow: for\nemulated links, which are slower than real ones too")
	f.BoolVar(&g.explain, "explain", false, "measure nothing; print the candidates and how long each takes\nby the model")
}

// lines breaks a list where it gets too long for the help.
func lines(list string) string {
	return strings.ReplaceAll(list, "complex128", "\ncomplex128")
}

// collectiveNames are the names of flags that only collective operations have.
func collectiveNames() []string {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(collectiveFlags).add(f)
	var names []string
	f.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return append(names, "verify")
}

// chooseCollective checks the flags of a collective operation.
func (o *options) chooseCollective(f *pflag.FlagSet, g *collectiveFlags) error {
	if o.op.maybe && f.Changed("algorithm") {
		o.op.team, o.op.prepare = true, prepareCollective
	}
	given := slices.DeleteFunc(collectiveNames(), func(name string) bool { return !f.Changed(name) })
	if o.op.object != noObject { // every result of an operation with objects can be checked too
		given = slices.DeleteFunc(given, func(name string) bool { return name == "verify" })
	}
	if !o.op.team {
		if len(given) > 0 && o.op.maybe {
			return fmt.Errorf("--%s: %s is the runtime's own; add --algorithm for that of package collectives", given[0], o.op.name)
		}
		if len(given) > 0 {
			return fmt.Errorf("--%s: %s is no collective operation; drop the flag", given[0], o.op.name)
		}
		if o.op.tune { // which works on an allreduce
			o.collective = &collective{what: schedule.AllReduce, algorithm: algorithmAuto, dtype: dtypes()[0]}
		}
		return nil
	}
	all := schedule.Operations()
	g.what = all[slices.IndexFunc(all, func(op schedule.Operation) bool { return op.String() == o.op.name })]
	for _, flag := range given {
		if !suits(g.what, flag) {
			return fmt.Errorf("--%s: %s knows no such thing; drop the flag", flag, o.op.name)
		}
	}
	if err := g.choose(f); err != nil {
		return err
	}
	if err := g.check(f, o); err != nil {
		return err
	}
	o.collective = &g.collective
	return nil
}

// suits reports whether a flag means anything to an operation.
func suits(op schedule.Operation, flag string) bool {
	switch flag {
	case "op":
		return op.Reduces()
	case "no-op":
		return op == schedule.AllReduce || op == schedule.Reduce
	case "fold-rate":
		return op == schedule.AllReduce || op == schedule.Reduce || op == schedule.ReduceScatter
	case "threshold":
		return op == schedule.Broadcast || op == schedule.Reduce
	case "processes":
		return op == schedule.Reduce
	case "root":
		return op.Rooted()
	case "dtype", "segments", "segment-size", "plain", "verify":
		return op != schedule.Barrier
	}
	return true
}

// choose looks names up.
func (g *collectiveFlags) choose(f *pflag.FlagSet) error {
	if g.algorithm != algorithmAuto && g.algorithm != algorithmAll {
		if _, err := algorithms.Lookup(g.what, g.algorithm); err != nil {
			return fmt.Errorf("--algorithm: %w; or auto, or all", err)
		}
	}
	types := dtypes()
	i := slices.IndexFunc(types, func(d dtype) bool { return d.name == g.dtypeName })
	if i < 0 {
		return fmt.Errorf("--dtype %q: expected one of %s", g.dtypeName, dtypeNames())
	}
	g.dtype = types[i]
	i = slices.IndexFunc(ops(), func(op collectives.Op) bool { return op.String() == g.opName })
	if i < 0 {
		return fmt.Errorf("--op %q: expected one of %s", g.opName, opNames())
	}
	g.op = ops()[i]
	if g.what.Reduces() && !g.dtype.supports(g.op) {
		return fmt.Errorf("--op %s: it is not defined for %s", g.opName, g.dtypeName)
	}
	for _, size := range []struct {
		flag, text string
		to         *uint64
	}{{"segment-size", g.segment, &g.segmentSize}, {"fold-rate", g.rate, &g.foldRate}} {
		var err error
		if f.Changed(size.flag) {
			*size.to, err = bytesize.Parse(size.text)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", size.flag, err)
		}
	}
	return nil
}

// check finds what is out of range or does not go together.
func (g *collectiveFlags) check(f *pflag.FlagSet, o *options) error {
	fraction := func(name string, x float64) error {
		if f.Changed(name) && !(x > 0 && x <= 1) {
			return fmt.Errorf("--%s %v: expected a number above 0, and at most 1", name, x)
		}
		return nil
	}
	if err := fraction("threshold", g.threshold); err != nil {
		return err
	}
	if err := fraction("processes", g.processes); err != nil {
		return err
	}
	switch {
	case f.Changed("segments") && g.segments < 1:
		return fmt.Errorf("--segments %d: expected at least 1", g.segments)
	case g.root < 0 || o.ranksSet && g.root >= o.ranks || g.root >= o.ranks && os.Getenv(envRank) == "":
		return fmt.Errorf("--root %d: there are ranks 0 to %d", g.root, o.ranks-1)
	case g.noOp && o.verify:
		return fmt.Errorf("--verify: --no-op has no result to check; drop one of the two")
	case g.noOp && g.foldRate > 0:
		return fmt.Errorf("--fold-rate: --no-op combines nothing; drop one of the two")
	case g.noOp && f.Changed("op"):
		return fmt.Errorf("--op %s: --no-op is an operation too; drop one of the two", g.opName)
	case g.explain && o.forms.JSON != "":
		return fmt.Errorf("--json: --explain measures nothing; drop one of the two")
	}
	return nil
}

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/object"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// collectiveFlags are the flags of collective operations before they are checked.
type collectiveFlags struct {
	collective.Spec
	dtypeName, opName string
}

func (g *collectiveFlags) add(f *pflag.FlagSet) {
	f.StringVar(&g.Algorithm, "algorithm", collective.Auto, "`NAME` of an algorithm of a collective operation; auto: what\nthe library chooses; all: a row for each")
	f.StringVar(&g.dtypeName, "dtype", "float64", "`TYPE` of elements: "+lines(collective.DtypeNames()))
	f.StringVar(&g.opName, "op", "sum", "how elements are combined: "+collective.OpNames())
	f.IntVar(&g.Segments, "segments", 0, "cut vectors into `K` segments that are under way together; with\n--segment-size, K at a time")
	f.String("segment-size", "", "cut vectors into segments of `BYTES`")
	f.Float64Var(&g.Threshold, "threshold", 0, "`FRACTION` of the vector that broadcast or reduce sends, in (0,1]")
	f.Float64Var(&g.Processes, "processes", 0, "`FRACTION` of the ranks that reduce combines, in (0,1]")
	f.IntVar(&g.Root, "root", 0, "`RANK` that is the root")
	f.BoolVar(&g.Plain, "plain", false, "vectors are ordinary slices instead of memory that all ranks\nreach. Limit: bare copies and folds through shared boxes of\n8 to 64 KiB with bare flags, the fastest of several ways")
	f.BoolVar(&g.Plan, "plan", false, "measure runs of a plan instead of single calls")
	f.BoolVar(&g.NoOp, "no-op", false, "combine by an operation that does nothing (allreduce and\nreduce): what is missing is exposed arithmetic")
	f.String("fold-rate", "", "make each rank combine at most `BYTES` per second (allreduce, reduce\nand reducescatter), as if its processor were that slow: for\nemulated links, which are slower than real ones too")
	f.BoolVar(&g.Explain, "explain", false, "measure nothing; print the candidates and how long each takes\nby the model")
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
		o.op.team = true
	}
	given := slices.DeleteFunc(collectiveNames(), func(name string) bool { return !f.Changed(name) })
	if o.op.object != object.None { // every result of an operation with objects can be checked too
		given = slices.DeleteFunc(given, func(name string) bool { return name == "verify" })
	}
	if !o.op.team {
		if len(given) > 0 && o.op.maybe {
			return fmt.Errorf("--%s: %s is the runtime's own; add --algorithm for that of package collectives", given[0], o.op.Name)
		}
		if len(given) > 0 {
			return fmt.Errorf("--%s: %s is no collective operation; drop the flag", given[0], o.op.Name)
		}
		if o.op.tune { // which works on an allreduce
			o.collective = &collective.Spec{What: schedule.AllReduce, Algorithm: collective.Auto, Dtype: collective.Dtypes()[0]}
		}
		return nil
	}
	all := schedule.Operations()
	g.What = all[slices.IndexFunc(all, func(op schedule.Operation) bool { return op.String() == o.op.Name })]
	for _, flag := range given {
		if !suits(g.What, flag) {
			return fmt.Errorf("--%s: %s knows no such thing; drop the flag", flag, o.op.Name)
		}
	}
	if err := g.choose(f); err != nil {
		return err
	}
	if err := g.check(f, o); err != nil {
		return err
	}
	o.collective = &g.Spec
	o.op.Prepare = o.collective.Prepare
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
	if g.Algorithm != collective.Auto && g.Algorithm != collective.All {
		if _, err := algorithms.Lookup(g.What, g.Algorithm); err != nil {
			return fmt.Errorf("--algorithm: %w; or auto, or all", err)
		}
	}
	types := collective.Dtypes()
	i := slices.IndexFunc(types, func(d collective.DType) bool { return d.Name == g.dtypeName })
	if i < 0 {
		return fmt.Errorf("--dtype %q: expected one of %s", g.dtypeName, collective.DtypeNames())
	}
	g.Dtype = types[i]
	i = slices.IndexFunc(collective.Ops(), func(op collectives.Op) bool { return op.String() == g.opName })
	if i < 0 {
		return fmt.Errorf("--op %q: expected one of %s", g.opName, collective.OpNames())
	}
	g.Op = collective.Ops()[i]
	if g.What.Reduces() && !g.Dtype.Supports(g.Op) {
		return fmt.Errorf("--op %s: it is not defined for %s", g.opName, g.dtypeName)
	}
	return cmp.Or(readSize(f, "segment-size", &g.SegmentSize), readSize(f, "fold-rate", &g.FoldRate))
}

// check finds what is out of range or does not go together.
func (g *collectiveFlags) check(f *pflag.FlagSet, o *options) error {
	fraction := func(name string, x float64) error {
		if f.Changed(name) && !(x > 0 && x <= 1) {
			return fmt.Errorf("--%s %v: expected a number above 0, and at most 1", name, x)
		}
		return nil
	}
	if err := fraction("threshold", g.Threshold); err != nil {
		return err
	}
	if err := fraction("processes", g.Processes); err != nil {
		return err
	}
	switch {
	case f.Changed("segments") && g.Segments < 1:
		return fmt.Errorf("--segments %d: expected at least 1", g.Segments)
	case g.Root < 0 || o.ranksSet && g.Root >= o.ranks || g.Root >= o.ranks && os.Getenv(envRank) == "":
		return fmt.Errorf("--root %d: there are ranks 0 to %d", g.Root, o.ranks-1)
	case g.NoOp && o.measured.Verify:
		return fmt.Errorf("--verify: --no-op has no result to check; drop one of the two")
	case g.NoOp && g.FoldRate > 0:
		return fmt.Errorf("--fold-rate: --no-op combines nothing; drop one of the two")
	case g.NoOp && f.Changed("op"):
		return fmt.Errorf("--op %s: --no-op is an operation too; drop one of the two", g.opName)
	case g.Explain && o.forms.JSON != "":
		return fmt.Errorf("--json: --explain measures nothing; drop one of the two")
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/internal/model"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/spf13/pflag"
)

// options are what the command line asks for.
type options struct {
	rankrun.Options
	bytes      int64 // of the parameters, as given
	iterations int
	async      bool
	batch      int
	work       time.Duration
	verify     bool
}

// params is how many there are: bytes in whole elements.
func (o *options) params() int { return rankrun.Elements(o.bytes) }

// quorum is how many gradients a step takes from so many workers.
func (o *options) quorum(workers int) int {
	if !o.async {
		return workers
	}
	return o.Quorum(workers)
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := program.NewFlags("paramserver")
	f.Var(rankrun.Bytes(&o.bytes, "1MiB", model.Own*rankrun.ElementSize), "params", "size of the parameters: the classifier and ballast behind it")
	f.Var(program.Whole(&o.iterations, "N", 50, 1, 1_000_000), "iterations", "how many steps the server makes")
	f.Var(program.OneOf("MODE", "sync", func(mode string) { o.async = mode == "async" }, "sync", "async"), "mode",
		"sync: a step takes the gradients of all workers; async: of the first that are finished, and workers may die")
	f.Var(program.Whole(&o.batch, "N", 16, 1, 1<<20), "batch", "points that a gradient is the mean of")
	f.DurationVar(&o.work, "work", 0, "sleep from this long to twice that with each gradient, at random, as if it took so long to compute")
	f.BoolVar(&o.verify, "verify", false, "compute the same steps again in one process, and compare the parameters bit by bit")
	o.Bind(f, rankrun.Words{
		Server: "server", Worker: "worker", Workers: "workers", Seed: "the data and the sleeping",
		First: "how many gradients a step of --mode async takes",
	})
	return f
}

// parse reads the command line.
func parse(args []string) (options, error) {
	var o options
	f := flags(&o)
	if err := f.Parse(args); err != nil || o.Help {
		return o, err
	}
	switch {
	case f.Changed("first") && !o.async:
		return o, errors.New("--first is for --mode async; a step of --mode sync takes the gradients of all workers")
	case o.work < 0:
		return o, fmt.Errorf("--work %v: expected a time of 0 or more", o.work)
	}
	return o, o.Check(f)
}

// help is the text of --help.
func help() string {
	var o options
	return `paramserver trains a softmax classifier on made-up data: rank 0 keeps the
parameters, the other ranks compute gradients. Rank 0 prints how the loss falls
and how many steps it makes per second.

Usage:
  gaspi-run -n RANKS ./examples/paramserver [FLAGS]

Examples:
  gaspi-run -n 8 ./examples/paramserver --params 4MiB
  gaspi-run -n 8 --on-failure continue ./examples/paramserver --mode async --work 20ms
  gaspi-run -n 8 ./examples/paramserver --emulate latency=1ms,bandwidth=50MB/s --naive

Flags:
` + flags(&o).FlagUsagesWrapped(80)
}

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/internal/model"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/spf13/pflag"
)

// elementSize is that of a parameter, a float32.
const elementSize = 4

// options are what the command line asks for.
type options struct {
	bytes      int64 // of the parameters, as given
	iterations int
	async      bool
	first      int // gradients per step if async; 0 for half of the workers
	way        exchange.Way
	workers    int
	batch      int
	work       time.Duration
	seed       uint64
	chunk      int64
	emulate    string
	verify     bool
	json       string
	help       bool
}

// params is how many there are: bytes in whole elements.
func (o *options) params() int { return int((o.bytes + elementSize - 1) / elementSize) }

// quorum is how many gradients a step takes from so many workers.
func (o *options) quorum(workers int) int {
	switch {
	case !o.async:
		return workers
	case o.first > 0:
		return min(o.first, workers)
	}
	return (workers + 1) / 2
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := pflag.NewFlagSet("paramserver", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.Var(rankrun.Bytes(&o.bytes, "1MiB", model.Own*elementSize), "params", "size of the parameters: the classifier and ballast behind it")
	f.Var(rankrun.Whole(&o.iterations, 50, 1, 1_000_000), "iterations", "how many steps the server makes")
	f.Var(&rankrun.Value{Text: "sync", Kind: "MODE", Take: func(text string) error {
		if text != "sync" && text != "async" {
			return errors.New("expected sync or async")
		}
		o.async = text == "async"
		return nil
	}}, "mode", "sync: a step takes the gradients of all workers; async: of the first that are finished, and workers may die")
	f.Var(rankrun.Whole(&o.first, 0, 1, 1<<20), "first", "how many gradients a step of --mode async takes; without it, half of the workers, rounded up")
	f.Var(rankrun.Naive(&o.way), "naive", "move each vector between the server and one worker, as a baseline: turns, which is what --naive alone means, or eager, where all write at once")
	f.Lookup("naive").NoOptDefVal = exchange.Turns.String()
	f.Var(rankrun.Whole(&o.workers, 0, 1, 1023), "workers", "run the server and N workers as goroutines of one process, instead of as ranks of gaspi-run")
	f.Var(rankrun.Whole(&o.batch, 16, 1, 1<<20), "batch", "points that a gradient is the mean of")
	f.DurationVar(&o.work, "work", 0, "sleep from this long to twice that with each gradient, at random, as if it took so long to compute")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that the data and the sleeping follow from")
	f.Var(rankrun.Bytes(&o.chunk, "0", 0), "chunk", "what package hoplite passes on at a time; 0 means its default")
	f.Var(&rankrun.Value{Kind: "NETWORK", Take: func(text string) error {
		o.emulate = text
		_, err := gaspi.ParseNetwork(text)
		return err
	}}, "emulate", "make each rank behave as if it were alone on a host behind a network card, such as latency=1ms,bandwidth=50MB/s")
	f.BoolVar(&o.verify, "verify", false, "compute the same steps again in one process, and compare the parameters bit by bit")
	f.StringVar(&o.json, "json", "", "write all figures to `FILE`")
	f.BoolVarP(&o.help, "help", "h", false, "show this help")
	return f
}

// parse reads the command line.
func parse(args []string) (options, error) {
	var o options
	f := flags(&o)
	if err := f.Parse(args); err != nil || o.help {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; everything is said with flags", f.Arg(0))
	case f.Changed("json") && o.json == "":
		return o, errors.New("--json needs the name of a file; found an empty one")
	case f.Changed("first") && !o.async:
		return o, errors.New("--first is for --mode async; a step of --mode sync takes the gradients of all workers")
	case o.work < 0:
		return o, fmt.Errorf("--work %v: expected a time of 0 or more", o.work)
	case o.chunk%64 != 0:
		return o, fmt.Errorf("--chunk %d: expected a multiple of 64 bytes", o.chunk)
	}
	return o, nil
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

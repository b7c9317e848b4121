package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/actors/internal/corridor"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/exchange"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/spf13/pflag"
)

// elementSize is that of a parameter, a float32.
const elementSize = 4

// options are what the command line asks for.
type options struct {
	impala   bool
	bytes    int64 // of the policy, as given
	sample   int64 // of what an actor sends with impala
	updates  int
	first    int // contributions per update; 0 for half of the actors
	way      exchange.Way
	workers  int
	stepTime time.Duration
	seed     uint64
	chunk    int64
	emulate  string
	json     string
	help     bool
}

// elements is how many float32 take so many bytes.
func elements(bytes int64) int { return int((bytes + elementSize - 1) / elementSize) }

// quorum is how many contributions an update takes of so many actors.
func (o *options) quorum(actors int) int {
	if o.first > 0 {
		return min(o.first, actors)
	}
	return (actors + 1) / 2
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := pflag.NewFlagSet("actors", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.Var(&rankrun.Value{Text: "a3c", Kind: "NAME", Take: func(text string) error {
		if text != "a3c" && text != "impala" {
			return errors.New("expected a3c or impala")
		}
		o.impala = text == "impala"
		return nil
	}}, "algorithm", "a3c: actors send gradients, which are added; impala: actors send samples, of which the trainer computes gradients")
	f.Var(rankrun.Bytes(&o.bytes, "1MiB", corridor.Own*elementSize), "params", "size of the policy: its table and ballast behind it")
	f.Var(rankrun.Bytes(&o.sample, "64KiB", corridor.Elements*elementSize), "sample", "size of what an actor sends with impala")
	f.Var(rankrun.Whole(&o.updates, 100, 1, 1_000_000), "updates", "how often the trainer changes the policy")
	f.Var(rankrun.Whole(&o.first, 0, 1, 1<<20), "first", "how many contributions an update takes; without it, half of the actors, rounded up")
	f.Var(rankrun.Naive(&o.way), "naive", "move each vector between the trainer and one actor, as a baseline: turns, which is what --naive alone means, or eager, where all write at once")
	f.Lookup("naive").NoOptDefVal = exchange.Turns.String()
	f.Var(rankrun.Whole(&o.workers, 0, 1, 1023), "workers", "run the trainer and N actors as goroutines of one process, instead of as ranks of gaspi-run")
	f.DurationVar(&o.stepTime, "step-time", 100*time.Microsecond, "how long a step in the world takes")
	f.Uint64Var(&o.seed, "seed", 1, "`NUMBER` that all walks follow from")
	f.Var(rankrun.Bytes(&o.chunk, "0", 0), "chunk", "what package hoplite passes on at a time; 0 means its default")
	f.Var(&rankrun.Value{Kind: "NETWORK", Take: func(text string) error {
		o.emulate = text
		_, err := gaspi.ParseNetwork(text)
		return err
	}}, "emulate", "make each rank behave as if it were alone on a host behind a network card, such as latency=1ms,bandwidth=50MB/s")
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
	case f.Changed("sample") && !o.impala:
		return o, errors.New("--sample is for --algorithm impala; with a3c an actor sends a gradient, which is as long as --params")
	case o.stepTime < 0:
		return o, fmt.Errorf("--step-time %v: expected a time of 0 or more", o.stepTime)
	case o.chunk%64 != 0:
		return o, fmt.Errorf("--chunk %d: expected a multiple of 64 bytes", o.chunk)
	}
	return o, nil
}

// help is the text of --help.
func help() string {
	var o options
	return `actors trains a policy by reinforcement learning: rank 0 is the trainer, the other
ranks act. Rank 0 prints how long rollouts are and how many it gets per second.

Usage:
  gaspi-run -n RANKS ./examples/actors [FLAGS]

Examples:
  gaspi-run -n 8 ./examples/actors --algorithm a3c --params 4MiB
  gaspi-run -n 8 --on-failure continue ./examples/actors --algorithm impala
  gaspi-run -n 8 ./examples/actors --emulate latency=1ms,bandwidth=50MB/s --naive

Flags:
` + flags(&o).FlagUsagesWrapped(80)
}

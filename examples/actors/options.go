package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/actors/internal/corridor"
	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/spf13/pflag"
)

// options are what the command line asks for.
type options struct {
	rankrun.Options
	impala   bool
	bytes    int64 // of the policy, as given
	sample   int64 // of what an actor sends with impala
	updates  int
	stepTime time.Duration
}

// flags binds o to its command line.
func flags(o *options) *pflag.FlagSet {
	f := program.NewFlags("actors")
	f.Var(program.OneOf("NAME", "a3c", func(name string) { o.impala = name == "impala" }, "a3c", "impala"), "algorithm",
		"a3c: actors send gradients, which are added; impala: actors send samples, of which the trainer computes gradients")
	f.Var(rankrun.Bytes(&o.bytes, "1MiB", corridor.Own*rankrun.ElementSize), "params", "size of the policy: its table and ballast behind it")
	f.Var(rankrun.Bytes(&o.sample, "64KiB", corridor.Elements*rankrun.ElementSize), "sample", "size of what an actor sends with impala")
	f.Var(program.Whole(&o.updates, "N", 100, 1, 1_000_000), "updates", "how often the trainer changes the policy")
	f.DurationVar(&o.stepTime, "step-time", 100*time.Microsecond, "how long a step in the world takes")
	o.Bind(f, rankrun.Words{
		Server: "trainer", Worker: "actor", Workers: "actors", Seed: "all walks",
		First: "how many contributions an update takes",
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
	case f.Changed("sample") && !o.impala:
		return o, errors.New("--sample is for --algorithm impala; with a3c an actor sends a gradient, which is as long as --params")
	case o.stepTime < 0:
		return o, fmt.Errorf("--step-time %v: expected a time of 0 or more", o.stepTime)
	}
	return o, o.Check(f)
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

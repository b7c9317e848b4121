package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// nodeRankVariables number the node where --node-rank does not: Kubernetes sets the first
// in an Indexed Job, and Slurm the second in a task.
var nodeRankVariables = [...]string{"JOB_COMPLETION_INDEX", "SLURM_NODEID"}

// envKeyFile names the file with the key of the job.
const envKeyFile = "GASPI_KEY_FILE"

// node reads which part of a job this is that is started on each of its nodes.
func (o *options) node(flags *pflag.FlagSet, lookup func(string) (string, bool)) (err error) {
	n := &o.config.Node
	if !flags.Changed("nnodes") {
		for _, name := range []string{"node-rank", "rendezvous", "key-file", "join-timeout"} {
			if flags.Changed(name) {
				return fmt.Errorf("--%s is for a job that is started on each of its nodes: say on how many with --nnodes", name)
			}
		}
		return nil
	}
	if o.hosts != "" || o.hostfile != "" {
		return errors.New("--hosts and --nnodes: expected one of them; with --hosts, gaspi-run is started once, and with --nnodes on every node")
	}
	if err := o.meeting(flags, lookup); err != nil || n.Count == 1 {
		return err
	}
	n.JoinTimeout, err = joinTimeout(flags, n.JoinTimeout)
	return err
}

// meeting reads what it takes to meet the other nodes.
func (o *options) meeting(flags *pflag.FlagSet, lookup func(string) (string, bool)) (err error) {
	n := &o.config.Node
	if n.Count < 1 || n.Count > launcher.MaxRanks {
		return fmt.Errorf("--nnodes %d: a job has 1 to %d nodes", n.Count, launcher.MaxRanks)
	}
	if !flags.Changed("node-rank") && n.Count > 1 {
		if n.Number, err = nodeRank(n.Count, lookup); err != nil {
			return err
		}
	}
	if n.Number < 0 || n.Number >= n.Count {
		return fmt.Errorf("--node-rank %d: the nodes of --nnodes %d are numbered from 0 to %d", n.Number, n.Count, n.Count-1)
	}
	if n.Count == 1 {
		return nil
	}
	if n.Rendezvous == "" {
		return errors.New("--nnodes: expected --rendezvous HOST:PORT, where node 0 is reached, the same on all nodes")
	}
	if flags.Changed("key-file") && n.KeyFile == "" {
		return errors.New(`--key-file "": expected FILE`)
	}
	if _, set := lookup(envKeyFile); n.KeyFile == "" && !set {
		if _, set := lookup("GASPI_KEY"); !set {
			return errors.New("a job on several nodes needs a key, the same on each: --key-file FILE, or GASPI_KEY_FILE or GASPI_KEY in the environment; openssl rand -hex 32 makes one")
		}
	}
	return nil
}

// decline tells the other nodes of a job that the command line of this one, of which err is
// wrong, starts nothing. It knows them by the flags before the one that is wrong.
func decline(args []string, err error, say func(string)) {
	o := &options{}
	flags := o.flags()
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Parse(respell(args, flags)) // its error is err, or one behind it
	if !flags.Changed("nnodes") || o.dryRun || o.meeting(flags, os.LookupEnv) != nil {
		return
	}
	n := &o.config.Node
	n.JoinTimeout, _ = joinTimeout(flags, n.JoinTimeout) // err, if it is wrong
	o.config.Notice, o.config.Program, o.config.Ranks = say, "", 1
	launcher.Decline(context.Background(), o.config, err)
}

// nodeRank is the number of this node, of so many, that its environment says.
func nodeRank(nodes int, lookup func(string) (string, bool)) (int, error) {
	for _, name := range nodeRankVariables {
		text, ok := lookup(name)
		if !ok {
			continue
		}
		number, err := strconv.Atoi(text)
		if err != nil || number < 0 || number >= nodes {
			return 0, fmt.Errorf("%s=%.80q: expected the number of this node, from 0 to %d; --node-rank says it too", name, text, nodes-1)
		}
		return number, nil
	}
	return 0, fmt.Errorf("--nnodes: expected --node-rank K, the number of this node from 0, since neither %s nor %s says it", nodeRankVariables[0], nodeRankVariables[1])
}

// joinTimeout is how long nodes wait for each other, as a Config has it: negative for ever,
// and 0 without a flag.
func joinTimeout(flags *pflag.FlagSet, limit time.Duration) (time.Duration, error) {
	switch {
	case limit < 0:
		return 0, fmt.Errorf("--join-timeout %v: expected more than 0, such as 10m, or 0 for ever", limit)
	case limit == 0 && flags.Changed("join-timeout"):
		return -1, nil
	}
	return limit, nil
}

// nodeFlags declares them.
func (o *options) nodeFlags(f *pflag.FlagSet) {
	n := &o.config.Node
	f.IntVar(&n.Count, "nnodes", 0, "this command is started on each of so many nodes, with -n ranks\non this one")
	f.IntVar(&n.Number, "node-rank", 0, "which node this is, from 0; by default "+nodeRankVariables[0]+"\nor "+nodeRankVariables[1])
	f.StringVar(&n.Rendezvous, "rendezvous", "", "where node 0 is reached: `HOST:PORT`, the same on all nodes")
	f.StringVar(&n.KeyFile, "key-file", "", "`FILE` with the key of the job, the same on all nodes: 64 hexadecimal\ndigits; by default "+envKeyFile+" or GASPI_KEY")
	f.DurationVar(&n.JoinTimeout, "join-timeout", 0, "how long nodes wait for each other, such as 10m; a `TIME` of 0 is\nfor ever (default GASPI_JOIN_TIMEOUT or "+launcher.DefaultJoinTimeout.String()+")")
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// places finds out where ranks run: on the hosts that the flags name, else on
// the nodes of the Slurm allocation that this is, else here.
func (o *options) places(flags *pflag.FlagSet, lookup func(string) (string, bool)) (err error) {
	c := &o.config
	for _, name := range []string{"ssh", "hosts", "hostfile", "rendezvous", "transport", "interface", "ports"} {
		if f := flags.Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			word, _ := pflag.UnquoteUsage(f)
			return fmt.Errorf("--%s %q: expected %s", name, f.Value.String(), word)
		}
	}
	if c.Remote.SSH, err = commandWords(o.ssh); err != nil {
		return fmt.Errorf("--ssh %q: %w; quote it as for a shell, such as --ssh 'ssh -o \"ProxyCommand=nc %%h %%p\"'", o.ssh, err)
	}
	if o.ssh != "" && c.Remote.SSH[0] == "" {
		return fmt.Errorf("--ssh %q: expected COMMAND", o.ssh)
	}
	switch {
	case c.Node.Count > 0:
		return nil // each node is the host of its ranks
	case o.hosts != "" && o.hostfile != "":
		return errors.New("--hosts and --hostfile: expected one of them")
	case o.hosts != "":
		if c.Hosts, err = launcher.ParseHosts(o.hosts); err != nil {
			return err
		}
	case o.hostfile != "":
		if c.Hosts, err = launcher.ReadHostfile(o.hostfile); err != nil {
			return fmt.Errorf("--hostfile: %w", err)
		}
	}
	nodes, err := launcher.SlurmHosts(lookup)
	switch {
	case c.Hosts == nil && err != nil:
		return err
	case c.Hosts == nil:
		c.Hosts = nodes
	}
	c.Remote.Srun = len(nodes) > 0 && o.ssh == "" && among(c.Hosts, nodes)
	return nil
}

// among reports whether all hosts are nodes of the allocation.
func among(hosts, nodes []launcher.Host) bool {
	for _, h := range hosts {
		if !slices.ContainsFunc(nodes, func(n launcher.Host) bool { return n.Name == h.Name }) {
			return false
		}
	}
	return true
}

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/beside"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/collective"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/peer"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// peerFlags are the flags about peers before they are checked.
type peerFlags struct {
	beside.Peers
	forced []string // algorithms as they were written
}

// peerFlagNames are the flags that only mean something beside peers.
func peerFlagNames() []string {
	return []string{"peer-algorithm", "peer-best", "peer-limit", "peer-segments", "repetitions"}
}

func (p *peerFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&p.Names, "peer", nil, "measure libraries in turns with the runtime, a `LIST` of\n"+strings.Join(peer.Names()[:3], ", ")+", or openmpi=DIR, mpich=DIR for one in a folder\nof its own; each counts by its faster way, such as in place or not. Over rdma:\nlibfabric, by a program in C that polls all the time, and\n"+strings.Join(peer.Names()[4:], ", ")+", by one that could sleep,\nand one that also receives while it computes")
	f.IntVar(&p.Repetitions, "repetitions", 5, "how often each side is measured beside peers")
	f.StringSliceVar(&p.forced, "peer-algorithm", nil, "force algorithms of peers, a `LIST` such as openmpi:ring")
	f.BoolVar(&p.Best, "peer-best", false, "measure every algorithm that peers have; the best counts")
	f.IntVar(&p.Segments, "peer-segments", 1, "peers do an allreduce in `SEGMENTS`, each a nonblocking call, which are\nunder way together")
	f.DurationVar(&p.Limit, "peer-limit", 20*time.Second, "give a peer up at a size that takes it longer than this")
}

// checkPeers finds out whether what is asked for can be measured beside peers.
func (o *options) checkPeers(f *pflag.FlagSet) error {
	p := &o.peers
	if len(p.Names) == 0 {
		if f.Changed("peer") {
			return fmt.Errorf("--peer: expected a list of %s; found an empty one", strings.Join(peer.Names(), ", "))
		}
		for _, name := range peerFlagNames() {
			if f.Changed(name) {
				return fmt.Errorf("--%s: there is nothing to compare with; add --peer", name)
			}
		}
		return nil
	}
	if os.Getenv(envRank) != "" {
		return errors.New("--peer starts jobs of its own; run it outside of gaspi-run")
	}
	for i, name := range p.Names {
		if err := peer.Check(name); err != nil {
			return fmt.Errorf("--peer %q: %w", name, err)
		}
		if slices.Contains(p.Names[:i], name) {
			return fmt.Errorf("--peer: %s is named twice", name)
		}
	}
	switch {
	case p.Repetitions < 1:
		return fmt.Errorf("--repetitions %d: expected at least 1", p.Repetitions)
	case p.Segments < 1 || p.Segments > 64:
		return fmt.Errorf("--peer-segments %d: expected 1 to 64", p.Segments)
	case p.Segments > 1 && o.op.Name != "allreduce":
		return fmt.Errorf("--peer-segments: %s has none, only allreduce; drop the flag", o.op.Name)
	case p.Limit < time.Second:
		return fmt.Errorf("--peer-limit %v: expected at least 1s", p.Limit)
	case o.transport == "loopback":
		return errors.New("--transport loopback: peers are processes; use shm or tcp")
	case o.measured.Side == report.ImplLimit:
		return errors.New("--side limit: there would be nothing to compare peers with; drop it or --peer")
	case o.emulate != "":
		return errors.New("--emulate: peers have no emulated network; drop it or --peer")
	}
	if err := o.checkPeerTransport(); err != nil {
		return err
	}
	if err := o.checkPeerOperation(f); err != nil {
		return err
	}
	o.args = o.argsOfOurs(f)
	return p.chooseAlgorithms()
}

// checkPeerTransport finds out whether peers can be measured over the transport.
func (o *options) checkPeerTransport() error {
	rdma := o.transport == "rdma"
	for _, name := range o.peers.Names {
		switch {
		case peer.OverMessages(name) && rdma:
			return fmt.Errorf("--peer %s: it is measured over shm and tcp; over rdma, use --peer libfabric", name)
		case peer.OverMessages(name):
		case !rdma:
			return fmt.Errorf("--peer %s: it is measured over rdma alone; add --transport rdma, or name a peer of MPI", name)
		case o.ranks != 2:
			return fmt.Errorf("-n %d: %s is measured between 2 ranks; drop the flag", o.ranks, name)
		case os.Getenv(envProvider) == "":
			return fmt.Errorf("--peer %s: both sides need the same provider; set %s, such as to tcp;ofi_rxm", name, envProvider)
		}
	}
	return nil
}

// checkPeerOperation finds out whether peers have the operation.
func (o *options) checkPeerOperation(f *pflag.FlagSet) error {
	for _, name := range o.peers.Names {
		switch {
		case len(peer.Ways(name, o.op.Name)) > 0:
		case peer.MPI(name):
			return fmt.Errorf("--peer: MPI has nothing to compare %s with; drop the flag", o.op.Name)
		default:
			return fmt.Errorf("--peer %s: it has nothing to compare %s with; drop the flag", name, o.op.Name)
		}
	}
	c := o.collective
	if c == nil {
		return nil
	}
	for _, name := range []string{"threshold", "processes", "no-op", "explain"} {
		if f.Changed(name) {
			return fmt.Errorf("--%s: MPI has nothing to compare it with; drop it or --peer", name)
		}
	}
	switch {
	case c.Algorithm == collective.All:
		return errors.New("--algorithm all: one of ours is compared with peers at a time; name it, or drop the flag")
	case !slices.Contains(peer.DTypes(), c.Dtype.Name):
		return fmt.Errorf("--dtype %s: MPI has no such type; drop it or --peer", c.Dtype.Name)
	}
	return nil
}

// chooseAlgorithms reads pairs of peer and algorithm.
func (p *peerFlags) chooseAlgorithms() error {
	p.Algorithms = map[string][]string{}
	for _, pair := range p.forced {
		name, algorithm, ok := strings.Cut(pair, ":")
		switch {
		case !ok || algorithm == "":
			return fmt.Errorf("--peer-algorithm %q: expected a peer and its algorithm, such as openmpi:ring", pair)
		case !slices.Contains(p.Names, name):
			return fmt.Errorf("--peer-algorithm %s: %s is no peer here; name it in --peer", pair, name)
		case p.Best:
			return errors.New("--peer-algorithm: --peer-best measures all algorithms; drop one of the two")
		}
		p.Algorithms[name] = append(p.Algorithms[name], algorithm)
	}
	return nil
}

// argsOfOurs is the command line of the ranks of the runtime: the flags that were
// given, but for those about peers and output.
func (o *options) argsOfOurs(f *pflag.FlagSet) []string {
	args := []string{o.op.Name}
	dropped := slices.Concat([]string{"peer", "transport"}, peerFlagNames(), outputFlagNames())
	f.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(dropped, flag.Name) {
			args = append(args, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return append(args, "--transport="+o.peerTransport())
}

// peerTransport is the transport of all sides.
func (o *options) peerTransport() string {
	if o.transport == "auto" {
		return "shm"
	}
	return o.transport
}

// outputFlagNames are the flags that say where results go.
func outputFlagNames() []string { return []string{"json", "osu", "plot"} }

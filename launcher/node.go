package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/rendezvous"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
)

// A Node says that this process starts the ranks of one node alone, and that a process like
// it does so on each of the others. Node 0 is the launcher of the job, and the others are
// its agents: they find it at Rendezvous, and prove by the key that they belong to the job.
// Ranks are numbered node by node, and nodes may have different numbers of them.
//
// Program, Args, Env, Interface, Bind and Output are those of each node. Transport, TLS and
// Count must be the same on all; of the rest, that of node 0 counts.
type Node struct {
	// Count is how many nodes there are; 0 and 1 mean this one alone, which needs no
	// rendezvous and no key.
	Count int

	// Number is which of them this is, from 0.
	Number int

	// Rendezvous is where node 0 is reached, as host:port. A name that does not resolve
	// yet is asked for until JoinTimeout.
	Rendezvous string

	// KeyFile is a file with the key of the job: 64 hexadecimal digits, the same on all
	// nodes, and open to no other user. Empty means that GASPI_KEY_FILE names it, or
	// that GASPI_KEY is the key itself. Ranks get neither.
	KeyFile string

	// JoinTimeout is how long the nodes wait for each other. Zero leaves it to
	// GASPI_JOIN_TIMEOUT, and without that means 30 s; negative means for ever.
	JoinTimeout time.Duration
}

// DefaultJoinTimeout is what a Node.JoinTimeout of zero means without GASPI_JOIN_TIMEOUT.
const DefaultJoinTimeout = 30 * time.Second

// several reports whether there are other nodes.
func (n Node) several() bool { return n.Count > 1 }

// check refuses nodes that cannot be, cannot meet, or do not go together with the rest of c.
func (n Node) check(c Config) error {
	if err := n.checkMeeting(); err != nil || !n.several() {
		return err
	}
	switch {
	case c.Hosts != nil:
		return errors.New("hosts are started from here, and nodes start themselves: name one or the other")
	case c.Remote.Stage:
		return errors.New("nodes start what each of them has, so nothing can be copied to them")
	case c.Transport == "shm":
		return fmt.Errorf("transport shm connects ranks of one host, and these are on %d nodes: use auto or tcp", n.Count)
	}
	return nil
}

// checkMeeting refuses nodes that cannot be, or cannot meet.
func (n Node) checkMeeting() error {
	switch {
	case n.Count < 0 || n.Count > MaxRanks:
		return fmt.Errorf("%d nodes: a job has 1 to %d", n.Count, MaxRanks)
	case n.Number < 0 || n.Number >= max(n.Count, 1):
		return fmt.Errorf("node %d of %d: nodes are numbered from 0 to %d", n.Number, max(n.Count, 1), max(n.Count, 1)-1)
	case !n.several():
		return nil
	}
	host, port, err := net.SplitHostPort(n.Rendezvous)
	number, wrong := strconv.Atoi(port)
	if err != nil || wrong != nil || host == "" || number < 1 || number > 65535 {
		return fmt.Errorf("rendezvous %q: expected where node 0 is reached, as HOST:PORT, with a port from 1 to 65535", n.Rendezvous)
	}
	return nil
}

// key reads the key of the job.
func (n Node) key() (auth.Key, error) {
	named, path := "--key-file", n.KeyFile
	if path == "" {
		named, path = boot.EnvKeyFile, os.Getenv(boot.EnvKeyFile)
	}
	if path == "" {
		text := os.Getenv(boot.EnvKey)
		if text == "" {
			return auth.Key{}, fmt.Errorf("a job on %d nodes needs a key, the same on each: name its file (--key-file, %s), or set %s; openssl rand -hex 32 makes one", n.Count, boot.EnvKeyFile, boot.EnvKey)
		}
		k, err := auth.ParseKey(text)
		if err != nil {
			return auth.Key{}, fmt.Errorf("%s: %w", boot.EnvKey, err)
		}
		return k, nil
	}
	c, err := auth.ReadCredentials(named, path)
	return c.Key, err
}

// jobEnd returns how a job has ended, as its policy says, for other nodes.
func jobEnd(code int, sentence string, err error) agent.JobEnd {
	if err != nil {
		return agent.RefusalOf(err)
	}
	return agent.JobEnd{Code: code, Sentence: sentence}
}

// meeting says how the nodes meet.
func (c Config) meeting(key auth.Key, caught *signals.Caught) rendezvous.Meeting {
	return rendezvous.Meeting{
		Count: c.Node.Count, Number: c.Node.Number, Address: c.Node.Rendezvous, Key: key, Limit: c.Node.JoinTimeout,
		TLS: c.TLS, Silence: c.silence(), Interface: c.Interface, Transport: c.Transport, Ranks: c.Ranks, MaxRanks: MaxRanks,
		Notice: c.Notice, Log: c.Log, Caught: caught,
	}
}

// openRendezvous listens for the other nodes, at node 0.
func openRendezvous(ctx context.Context, cfg Config, caught *signals.Caught) (*rendezvous.Nodes, error) {
	key, err := cfg.Node.key()
	if err != nil {
		return nil, err
	}
	return rendezvous.Open(ctx, cfg.meeting(key, caught))
}

// Decline tells the other nodes of a job that this one does not take part, and why, so that
// none of them waits for it. At node 0 it blocks until each of the others has come and was
// told, for at most Node.JoinTimeout; elsewhere it tells node 0, if that is there. It does
// nothing where cfg has no other nodes, or not what it takes to meet them. [Run] calls it for
// a program that cannot be started; who refuses to run at all, as for flags that make no
// sense, calls it himself.
func Decline(ctx context.Context, cfg Config, why error) {
	cfg, _ = cfg.withDefaults() // of which the rest is why, or does not matter any more
	decline(ctx, cfg, why, nil)
}

// decline is Decline with signals, which end it.
func decline(ctx context.Context, cfg Config, why error, caught *signals.Caught) {
	if _, stopped := errors.AsType[*signals.Interrupted](why); stopped || ctx.Err() != nil || !cfg.Node.several() || cfg.Node.checkMeeting() != nil {
		return
	}
	if cfg.Node.Number == 0 {
		nodes, err := openRendezvous(ctx, cfg, caught)
		if err != nil {
			cfg.Log("the other nodes cannot be told: " + err.Error())
			return
		}
		defer nodes.Close()
		nodes.Decline(ctx, why)
		return
	}
	if key, err := cfg.Node.key(); err == nil {
		reportProblem(cfg, key, why)
	}
}

package launcher

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/talk"
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

// An enlistment is what a node says of itself when it joins.
type enlistment struct {
	Nodes     int // how many it expects
	Ranks     int // how many it starts
	Transport string
	Problem   string // why it cannot start any; empty if it can
	Because   obstacle
}

// A verdict is how the job has ended, for the other nodes.
type verdict struct {
	Code     int    // the exit code of all nodes
	Sentence string // why it is not 0
	Problem  string // why the job did not run; empty if it did
	Because  obstacle
}

// verdictOf is how a job has ended, as its policy says, for other nodes.
func verdictOf(code int, sentence string, err error) verdict {
	if err != nil {
		return refusalOf(err)
	}
	return verdict{Code: code, Sentence: sentence}
}

// refusalOf is the verdict on a job that does not run.
func refusalOf(err error) verdict {
	return verdict{Problem: err.Error(), Because: obstacleOf(err)}
}

// err is the error of a job that did not run, or nil.
func (v verdict) err() error {
	switch {
	case v.Problem == "":
		return nil
	case v.Because <= otherObstacle || int(v.Because) >= len(obstacles):
		return errors.New(v.Problem)
	}
	return &supervise.StartError{Kind: obstacles[v.Because], Sentence: v.Problem}
}

// A demand is what a node wants of the job: its end, by a signal or for a reason.
type demand struct {
	Signal int // that the node got, or 0
	Code   int
	What   string
}

// join reaches node 0 and proves the key, as often as it takes within the join timeout.
func (n Node) join(ctx context.Context, cfg Config, key auth.Key, signals *signals) (net.Conn, error) {
	var secure *tls.Config
	if cfg.TLS {
		var err error
		if _, secure, err = key.TLS(key.JobID()); err != nil {
			return nil, err
		}
	}
	a := agentConfig{Job: key.JobID(), Addresses: []string{n.Rendezvous}, host: n.Number, proof: auth.Credentials{Key: key}}
	attempts, over := make(chan reached), make(chan struct{})
	defer close(over)
	go a.attemptLoop(secure, attempts, over)
	wait := newPatience(n.JoinTimeout)
	defer wait.stop()
	why, stranger := errors.New("no answer yet"), false
	for {
		select {
		case r := <-attempts:
			if r.err == nil {
				return r.conn, nil
			}
			if why = r.err; errors.Is(why, auth.ErrRefused) {
				return nil, fmt.Errorf("node 0 at %s: %w", n.Rendezvous, why)
			}
			if errors.Is(why, auth.ErrUnproven) && !stranger {
				stranger = true
				cfg.Notice(fmt.Sprintf("at %s there is not node 0 of this job (%v); trying on", n.Rendezvous, why))
			}
		case <-wait.word.C:
			cfg.Notice(fmt.Sprintf("waiting for node 0 at %s (%v) for %s", n.Rendezvous, why, phrase.Limit(wait.passed())))
		case <-wait.over:
			return nil, fmt.Errorf("no node 0 at %s after %s (%w): is it started, with the same key, and can this host reach it? a longer wait is --join-timeout", n.Rendezvous, phrase.Limit(wait.limit), why)
		case <-ctx.Done():
			return nil, ctx.Err()
		case sig := <-signals.channel():
			if err := signals.early(sig); err != nil {
				return nil, err
			}
		}
	}
}

// reached is what one attempt to reach node 0 has come to.
type reached struct {
	conn net.Conn
	err  error
}

// attemptLoop tries again and again until it succeeds, is refused, or nobody listens.
func (c agentConfig) attemptLoop(secure *tls.Config, attempts chan<- reached, over <-chan struct{}) {
	for {
		conn, _, err := c.attempt(secure)
		select {
		case attempts <- reached{conn, err}:
			if err == nil || errors.Is(err, auth.ErrRefused) {
				return
			}
		case <-over:
			if err == nil {
				conn.Close()
			}
			return
		}
		select {
		case <-time.After(addressHeadway):
		case <-over:
			return
		}
	}
}

// The times at which somebody who waits says so.
const (
	firstWord = 10 * time.Second
	nextWord  = time.Minute
)

// A patience is a wait with a limit, in which the user hears why nothing goes on.
type patience struct {
	limit time.Duration // 0 for none
	begun time.Time
	over  <-chan time.Time
	word  *time.Timer // the next line is due
}

func newPatience(limit time.Duration) *patience {
	p := &patience{limit: max(limit, 0), begun: time.Now(), word: time.NewTimer(firstWord)}
	if limit > 0 {
		p.over = time.After(limit)
	}
	return p
}

func (p *patience) stop() { p.word.Stop() }

// passed is the time of the line that is due.
func (p *patience) passed() time.Duration {
	p.word.Reset(nextWord)
	return time.Since(p.begun).Round(time.Second)
}

// greet says to node 0 what this node is.
func (n Node) greet(conn *talk.Conn, cfg Config, problem error) {
	name, _ := os.Hostname()
	e := enlistment{Nodes: n.Count, Ranks: cfg.Ranks, Transport: cfg.Transport}
	if problem != nil {
		e.Problem, e.Because = problem.Error(), obstacleOf(problem)
	}
	conn.Send(encode(frameReady, 0, ready{Host: name, PID: os.Getpid(), Cores: runtime.GOMAXPROCS(0), Node: &e}))
}

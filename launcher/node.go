package launcher

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/phrase"
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

// join reaches node 0 and proves the key, as often as it takes within the join timeout.
func (n Node) join(ctx context.Context, cfg Config, key auth.Key, signals *signals) (net.Conn, error) {
	var secure *tls.Config
	if cfg.TLS {
		var err error
		if _, secure, err = key.TLS(key.JobID()); err != nil {
			return nil, err
		}
	}
	attempts, over := make(chan reached), make(chan struct{})
	defer close(over)
	go attemptLoop(agent.NodeContact(key.JobID(), n.Rendezvous, n.Number, key), secure, attempts, over)
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
func attemptLoop(c agent.Contact, secure *tls.Config, attempts chan<- reached, over <-chan struct{}) {
	for {
		conn, _, err := c.Attempt(secure)
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
		case <-time.After(agent.Headway):
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

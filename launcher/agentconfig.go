package launcher

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
)

const (
	maxAgentConfig  = 1 << 20                // bytes of the first line an agent reads
	addressTimeout  = 5 * time.Second        // for one address: a wrong one may swallow packets
	addressHeadway  = 200 * time.Millisecond // before the next address is tried as well
	agentConfigRead = 30 * time.Second       // for the first line to come
)

// An agentConfig is the first line that an agent reads: where its launcher is,
// and how to prove that it belongs to it.
type agentConfig struct {
	Version   int           `json:"version"`
	Job       string        `json:"job"`
	Key       string        `json:"key"`
	Addresses []string      `json:"addresses"` // host:port, best first
	TLS       bool          `json:"tls"`
	Silence   time.Duration `json:"silence"` // how long the launcher may be silent
	Host      int           `json:"host"`    // which host of the job this is

	// Nodes replaces Host when one command starts the agents of all hosts: the
	// numbers of the hosts by the names of the nodes.
	Nodes map[string]int `json:"nodes,omitempty"`
}

// readAgentConfig reads the line, and finds out which host this is.
func readAgentConfig(in io.Reader) (agentConfig, error) {
	line, err := bufio.NewReader(io.LimitReader(in, maxAgentConfig)).ReadBytes('\n')
	if err != nil {
		return agentConfig{}, errors.New("an agent is started by gaspi-run, which tells it what to do; there is nothing here for a user")
	}
	var c agentConfig
	if err := json.Unmarshal(line, &c); err != nil {
		return agentConfig{}, fmt.Errorf("the launcher's first line makes no sense: %w", err)
	}
	if c.Version != agentVersion {
		return agentConfig{}, fmt.Errorf("gaspi-run here speaks version %d to agents and that of the launcher version %d: install the same one on both hosts, or use --stage", agentVersion, c.Version)
	}
	if c.Nodes != nil {
		if c.Host, err = whichNode(c.Nodes); err != nil {
			return agentConfig{}, err
		}
	}
	return c, nil
}

// whichNode asks Slurm's environment which of the hosts this is.
func whichNode(nodes map[string]int) (int, error) {
	name := os.Getenv("SLURMD_NODENAME")
	if n, ok := nodes[name]; ok {
		return n, nil
	}
	return 0, fmt.Errorf("SLURMD_NODENAME=%s is none of the nodes of the job", strconv.Quote(name))
}

// connect reaches the launcher at the first of its addresses that answers, and
// proves to it that this is its agent.
func (c agentConfig) connect() (conn net.Conn, reached string, err error) {
	key, err := auth.ParseKey(c.Key)
	if err != nil {
		return nil, "", err
	}
	var secure *tls.Config
	if c.TLS {
		if _, secure, err = key.TLS(c.Job); err != nil {
			return nil, "", err
		}
	}
	hello := auth.Hello{Role: auth.RoleAgent, Job: c.Job, From: int32(c.Host), Version: agentVersion}
	raw, reached, err := dialAny(c.Addresses)
	if err != nil {
		return nil, "", fmt.Errorf("cannot reach the launcher: %w; choose another address with --interface", err)
	}
	conn, err = auth.Client(raw, key, hello, secure)
	if err != nil {
		raw.Close()
		return nil, "", fmt.Errorf("the launcher at %s: %w", reached, err)
	}
	return conn, reached, nil
}

// dialAny tries the addresses one after the other, without waiting long for one
// that does not answer, and returns the first connection.
func dialAny(addresses []string) (net.Conn, string, error) {
	type outcome struct {
		conn    net.Conn
		address string
		err     error
	}
	ctx, cancel := context.WithTimeout(context.Background(), addressTimeout)
	defer cancel()
	outcomes := make(chan outcome, len(addresses))
	next := 0
	try := func() {
		address := addresses[next]
		next++
		go func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
			outcomes <- outcome{conn, address, err}
		}()
	}
	if len(addresses) == 0 {
		return nil, "", errors.New("it has no address")
	}
	var errs []error
	for len(errs) < len(addresses) {
		if next < len(addresses) {
			try()
		}
		var headway <-chan time.Time
		if next < len(addresses) {
			headway = time.After(addressHeadway)
		}
		select {
		case o := <-outcomes:
			if o.err != nil {
				errs = append(errs, o.err)
				continue
			}
			cancel()
			for range next - len(errs) - 1 {
				if late := <-outcomes; late.conn != nil {
					late.conn.Close()
				}
			}
			return o.conn, o.address, nil
		case <-headway:
		}
	}
	return nil, "", errors.Join(errs...)
}

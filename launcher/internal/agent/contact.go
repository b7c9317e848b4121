package agent

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

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

const (
	maxContact       = 32 << 20         // bytes of the first line an agent reads
	addressTimeout   = 5 * time.Second  // for one address: a wrong one may swallow packets
	handshakeTimeout = 10 * time.Second // for the launcher to finish a handshake
)

// Headway is the time before the next address, or the same one again, is tried as well.
const Headway = 200 * time.Millisecond

// A Contact is the first line that an agent reads: where its launcher is,
// and how to prove that it belongs to it.
type Contact struct {
	Version   int           `json:"version"` // see Version
	Job       string        `json:"job"`
	Addresses []string      `json:"addresses"` // host:port, best first
	TLS       bool          `json:"tls"`
	Silence   time.Duration `json:"silence"` // how long the launcher may be silent

	// Nodes are the hosts that the same command starts agents on, by the names of the
	// nodes, or the only one under AnyNode.
	Nodes map[string]Proof `json:"nodes"`

	host  int              // which host of the job this is
	proof auth.Credentials // of its agent
}

// A Proof is what the agent of one host is told.
type Proof struct {
	Host        int    `json:"host"`
	Credentials string `json:"credentials"`
}

// NodeContact returns the contact of a node with node 0, which is reached at an address.
func NodeContact(job, address string, number int, key auth.Key) Contact {
	return Contact{Job: job, Addresses: []string{address}, host: number, proof: auth.Credentials{Key: key}}
}

// AnyNode stands for the node that the agent is on, whatever its name.
const AnyNode = "*"

// readContact reads the line, and finds out which host this is.
func readContact(in io.Reader) (Contact, error) {
	line, err := bufio.NewReader(io.LimitReader(in, maxContact)).ReadBytes('\n')
	if err != nil {
		return Contact{}, errors.New("an agent is started by gaspi-run, which tells it what to do; there is nothing here for a user")
	}
	var c Contact
	if err := json.Unmarshal(line, &c); err != nil {
		return Contact{}, fmt.Errorf("the launcher's first line makes no sense: %w", err)
	}
	if c.Version != Version {
		return Contact{}, fmt.Errorf("gaspi-run here speaks version %d to agents and that of the launcher version %d: install the same one on both hosts, or use --stage", Version, c.Version)
	}
	node, ok := c.Nodes[AnyNode]
	if !ok {
		if node, err = whichNode(c.Nodes); err != nil {
			return Contact{}, err
		}
	}
	c.host, c.Nodes = node.Host, nil
	if c.proof, err = auth.ParseCredentials(node.Credentials); err != nil {
		return Contact{}, fmt.Errorf("the launcher's first line makes no sense: %w", err)
	}
	return c, nil
}

// whichNode asks Slurm's environment which of the hosts this is.
func whichNode(nodes map[string]Proof) (Proof, error) {
	name := os.Getenv("SLURMD_NODENAME")
	if n, ok := nodes[name]; ok {
		return n, nil
	}
	return Proof{}, fmt.Errorf("SLURMD_NODENAME=%s is none of the nodes of the job", strconv.Quote(name))
}

// connect reaches the launcher at the first of its addresses that answers, and
// proves to it that this is its agent. A launcher that does not finish the handshake, as
// one that strangers keep busy, is tried again; so is somebody who has proven nothing.
func (c Contact) connect() (conn net.Conn, reached string, err error) {
	var secure *tls.Config
	if c.TLS {
		if _, secure, err = c.proof.Key.TLS(c.Job); err != nil {
			return nil, "", err
		}
	}
	for limit := time.Now().Add(handshakeTimeout); ; {
		conn, reached, err := c.Attempt(secure)
		switch {
		case err == nil:
			return conn, reached, nil
		case reached == "":
			return nil, "", fmt.Errorf("cannot reach the launcher: %w; choose another address with --interface", err)
		case errors.Is(err, auth.ErrRefused) || time.Now().After(limit):
			return nil, "", fmt.Errorf("the launcher at %s: %w", reached, err)
		}
		<-time.After(Headway)
	}
}

// Attempt tries all addresses once, and proves to the first that answers what this is.
// With an error, reached is that address, or empty if none answered.
func (c Contact) Attempt(secure *tls.Config) (conn net.Conn, reached string, err error) {
	raw, reached, err := dialAny(address.Reach(c.Addresses))
	if err != nil {
		return nil, "", err
	}
	hello := auth.Hello{Role: auth.RoleAgent, Job: c.Job, From: int32(c.host), Version: Version}
	if conn, err = auth.Client(raw, c.proof, hello, secure); err != nil {
		raw.Close()
		return nil, reached, err
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
			headway = time.After(Headway)
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
	return nil, "", base.OneLine(errs...)
}

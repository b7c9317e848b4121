// Package cluster makes hosts out of network namespaces, so that tests can run a
// job across several machines on one: each host has its own name, network,
// processes and temporary files, and can be cut off.
//
//	head --+
//	h1   --+-- switch      each host: eth0, 10.88.0.N and fd88::N, its own sshd;
//	h2   --+               Slurm on request; one folder that all of them share
//
// Nothing of it is visible outside: addresses, interfaces and processes are in
// namespaces without a name, which go when the last process in them ends; and
// those end when the test process does, whatever it dies of. It is for tests
// alone and needs rights that root has outside of containers. Where these or a tool is
// missing, New skips the test, or fails it if GASPI_CI=1 is in the environment; StartSlurm
// does so with the test that called New where there is no Slurm.
package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// MaxHosts bounds the hosts of a cluster.
const MaxHosts = 64

// A Cluster is a head, from which jobs are started, and hosts that run them.
// Its methods must not be called concurrently, those of its hosts may be.
type Cluster struct {
	t     testing.TB
	dir   string // shared by all hosts under the same path
	wire  *Host  // the bridge lives here, and nothing else
	head  *Host
	hosts []*Host
	cut   map[[2]int]bool // by index: what the first host sends does not reach the second
	ssh   string          // what SSH returns, when it has been called
	slurm bool
}

// New makes a cluster with hosts h1, h2 and so on, and a head. Everything in it
// ends with the test. It takes about 0.1 s for each host.
func New(t testing.TB, hosts int) *Cluster {
	t.Helper()
	if hosts < 1 || hosts > MaxHosts {
		t.Fatalf("%d hosts: a cluster has 1 to %d", hosts, MaxHosts)
	}
	need(t, "ip", "tc", "nft", "ssh", "ssh-keygen", "sshd", "nsenter", "setpriv", "mount", "env", "sh", "cat")
	if err := possible(); err != nil {
		testenv.Lack(t, "cannot make hosts out of namespaces here: "+err.Error())
	}
	c := &Cluster{t: t, cut: map[[2]int]bool{}}
	sweep()
	dir, err := NewDir()
	if err != nil {
		t.Fatal(err)
	}
	c.dir = dir
	t.Cleanup(c.close)
	// Daemons look into it under other users; secrets in it have their own modes.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.build(hosts); err != nil {
		t.Fatalf("cluster of %d hosts: %v", hosts, err)
	}
	return c
}

// possible returns why this machine cannot make hosts. It makes two, the way between
// them, and a partition: that is what needs rights.
var possible = sync.OnceValue(func() error {
	dir, err := NewDir()
	if err != nil {
		return err
	}
	c := &Cluster{dir: dir, cut: map[[2]int]bool{{0, 1}: true}}
	if err = c.build(1); err == nil {
		err = c.applyCuts()
	}
	return errors.Join(err, c.end())
})

// build starts the hosts and joins them.
func (c *Cluster) build(hosts int) error {
	c.head = newHost(c, 0)
	for i := range hosts {
		c.hosts = append(c.hosts, newHost(c, i+1))
	}
	if err := os.WriteFile(c.file("hosts"), []byte(c.names()), 0o644); err != nil {
		return err
	}
	c.wire = &Host{cluster: c, Name: "switch"}
	all := append([]*Host{c.wire}, c.all()...)
	for _, h := range all {
		if err := h.boot(); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	for _, h := range all {
		if err := h.awaitBoot(); err != nil {
			return fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	if err := c.connect(); err != nil {
		return err
	}
	return c.settle()
}

// Head returns the host from which jobs are meant to be started. It is called
// "head", is in no Slurm partition, and its address ends in 254.
func (c *Cluster) Head() *Host { return c.head }

// Hosts returns the others; the index is one less than the number in the name.
func (c *Cluster) Hosts() []*Host { return c.hosts }

// Dir returns the folder that all hosts share under one path with the test. It
// is where commands start, and it goes with the cluster.
func (c *Cluster) Dir() string { return c.dir }

// List returns the hosts as --hosts wants them, each with that many slots.
func (c *Cluster) List(slots int) string {
	var words []string
	for _, h := range c.hosts {
		words = append(words, fmt.Sprintf("%s:%d", h.Name, slots))
	}
	return strings.Join(words, ",")
}

// all returns every host, the head first.
func (c *Cluster) all() []*Host { return append([]*Host{c.head}, c.hosts...) }

// file returns the path of a file of the cluster's own.
func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

// names is the /etc/hosts of all hosts.
func (c *Cluster) names() string {
	text := "127.0.0.1 localhost\n::1 localhost\n"
	for _, h := range c.all() {
		text += fmt.Sprintf("%s %s\n%s %s\n", h.IPv4, h.Name, h.IPv6, h.Name)
	}
	return text
}

func (c *Cluster) close() {
	if err := c.end(); err != nil {
		c.t.Error(err)
	}
}

// end ends all hosts and removes the shared folder.
func (c *Cluster) end() error {
	for _, h := range append([]*Host{c.wire, c.head}, c.hosts...) {
		if h != nil {
			h.shutDown()
		}
	}
	return os.RemoveAll(c.dir)
}

// prefix begins the names of the shared folders; the process number of their
// owner follows.
const prefix = "gaspi-cluster-"

// NewDir makes a folder for files that several clusters of this process link to, on the file
// system of their own folders. The caller removes it; if this process is killed, a later New
// does.
func NewDir() (string, error) {
	return os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
}

// sweep removes the folders of tests that were killed. Nothing else is left of
// them. Errors do not matter: another test may be doing the same.
func sweep() {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*-*"))
	for _, dir := range found {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.RemoveAll(dir)
		}
	}
}

// Build builds packages of this module and returns the folder with the programs,
// each called after the last element of its package. All hosts see it.
func (c *Cluster) Build(t testing.TB, packages ...string) string {
	t.Helper()
	bin := c.file("bin") + "/"
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-buildvcs=false", "-o", bin}, packages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Clean(bin)
}

// Self returns a copy of the test program that all hosts see.
func (c *Cluster) Self(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := c.file("self.test")
	if _, err := os.Stat(path); err == nil || os.Link(self, path) == nil {
		return path
	}
	if err := copyFile(path, self); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

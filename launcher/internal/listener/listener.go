// Package listener is where agents and ranks of other hosts connect to the launcher of a job. It lets nobody in
// without credentials of the job, and hands each connection to whom it is for.
package listener

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
)

// A Request says where to listen, and for whom.
type Request struct {
	Job       string
	Interface string // as of launcher.Config
	Ports     string // likewise
	TLS       bool
	Server    *boot.Server  // of the ranks
	Agents    []*agent.Site // those that have not come yet
	Log       func(line string)
}

// A Listener listens at the addresses of this host until it is closed.
type Listener struct {
	request   Request
	listeners []net.Listener
	addresses []string // host:port, as others may reach it
	gate      *auth.Gate

	mu     sync.Mutex
	agents map[int32]*agent.Site // guarded by mu; by the number of the host; those that have not come yet
}

// Open listens, on ports that the system chooses or of Request.Ports.
func Open(request Request) (*Listener, error) {
	l := &Listener{request: request, agents: map[int32]*agent.Site{}}
	for _, r := range request.Agents {
		l.agents[int32(r.Number)] = r
	}
	var secure *tls.Config
	if request.TLS {
		var err error
		if secure, _, err = request.Server.Credentials().Key.TLS(request.Job); err != nil {
			return nil, err
		}
	}
	if err := l.listen(); err != nil {
		auth.CloseAll(l.listeners)
		return nil, fmt.Errorf("listen for other hosts: %w", err)
	}
	l.gate = auth.NewGate(auth.GateConfig{Credentials: request.Server.Credentials(), TLS: secure, Check: l.check, Log: request.Log})
	l.gate.Open(l.listeners, l.pass, func(err error) { request.Log(err.Error()) })
	return l, nil
}

// listen opens a port on each address that was asked for, or one on all.
func (l *Listener) listen() error {
	chosen, err := address.Choose(l.request.Interface, netip.Addr{})
	if err != nil {
		return err
	}
	ports, err := address.ParsePorts(l.request.Ports)
	if err != nil {
		return err
	}
	open := func(host string) (opened net.Listener, err error) {
		err = ports.Open(func(port uint16) (err error) {
			opened, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
			return err
		})
		return opened, err
	}
	if l.request.Interface == "" {
		opened, err := open("")
		if err != nil {
			return err
		}
		l.listeners = append(l.listeners, opened)
		port := opened.Addr().(*net.TCPAddr).Port
		for _, a := range chosen {
			l.addresses = append(l.addresses, net.JoinHostPort(a.String(), strconv.Itoa(port)))
		}
		return nil
	}
	for _, a := range chosen {
		opened, err := open(a.String())
		if err != nil {
			return err
		}
		l.listeners = append(l.listeners, opened)
		l.addresses = append(l.addresses, address.Told(opened))
	}
	return nil
}

// Addresses returns all addresses, host:port, as others may reach it.
func (l *Listener) Addresses() []string { return l.addresses }

// AddressesFrom returns all addresses, the one that has worked first.
func (l *Listener) AddressesFrom(worked string) []string {
	all := slices.DeleteFunc(slices.Clone(l.addresses), func(a string) bool { return a == worked })
	return append([]string{worked}, all...)
}

// AddressesOf returns all addresses, first that of this host by which somebody has come, if
// it listens there.
func (l *Listener) AddressesOf(at net.Addr) []string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return l.addresses
	}
	own := tcp.AddrPort().Addr().Unmap().WithZone("").String()
	if l.request.Interface == "" && len(l.listeners) > 0 {
		_, port, _ := net.SplitHostPort(l.listeners[0].Addr().String())
		return l.AddressesFrom(net.JoinHostPort(own, port))
	}
	for _, a := range l.addresses {
		if host, _, _ := net.SplitHostPort(a); host == own {
			return l.AddressesFrom(a)
		}
	}
	return l.addresses
}

// check refuses who holds the key but is not expected.
func (l *Listener) check(h auth.Hello) error {
	if h.Role != auth.RoleAgent {
		return l.request.Server.Check(h)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case h.Version != agent.Version:
		return fmt.Errorf("an agent that speaks version %d; the launcher speaks version %d", h.Version, agent.Version)
	case h.Job != l.request.Job:
		return fmt.Errorf("an agent of job %s; this is job %s", h.Job, l.request.Job)
	case l.agents[h.From] == nil:
		return fmt.Errorf("host %d has an agent already, or needs none", h.From)
	}
	return nil
}

// pass hands a connection to whom it is for.
func (l *Listener) pass(conn net.Conn, h auth.Hello) {
	if h.Role != auth.RoleAgent {
		if err := l.request.Server.Serve(conn, base.Rank(h.From)); err != nil {
			l.request.Log(err.Error())
		}
		return
	}
	l.mu.Lock()
	r := l.agents[h.From]
	delete(l.agents, h.From)
	l.mu.Unlock()
	if r == nil {
		conn.Close()
		return
	}
	l.request.Log(fmt.Sprintf("the agent of host %s has connected from %s", r.Name, conn.RemoteAddr()))
	r.Attach(conn)
}

// Close lets nobody in any more. It works on nil.
func (l *Listener) Close() {
	if l != nil {
		l.gate.Close()
	}
}

package launcher

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
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
)

// A doorway is where agents and ranks of other hosts come in. It refuses a peer without
// credentials of the job.
type doorway struct {
	job       *job
	listeners []net.Listener
	addresses []string // host:port, as others may reach it
	gate      *auth.Gate

	mu     sync.Mutex
	agents map[int32]*agent.Site // by the number of the host; those that have not come yet
}

// openDoorway listens, on ports that the system chooses or of Config.Ports.
func openDoorway(j *job, agents []*agent.Site) (*doorway, error) {
	d := &doorway{job: j, agents: map[int32]*agent.Site{}}
	for _, r := range agents {
		d.agents[int32(r.Number)] = r
	}
	var secure *tls.Config
	if j.cfg.TLS {
		var err error
		if secure, _, err = j.server.Credentials().Key.TLS(j.id); err != nil {
			return nil, err
		}
	}
	if err := d.listen(); err != nil {
		auth.CloseAll(d.listeners)
		return nil, fmt.Errorf("listen for other hosts: %w", err)
	}
	d.gate = auth.NewGate(auth.GateConfig{Credentials: j.server.Credentials(), TLS: secure, Check: d.check, Log: j.cfg.Log})
	d.gate.Open(d.listeners, d.pass, func(err error) { j.cfg.Log(err.Error()) })
	return d, nil
}

// listen opens a port on each address that was asked for, or one on all.
func (d *doorway) listen() error {
	chosen, err := address.Choose(d.job.cfg.Interface, netip.Addr{})
	if err != nil {
		return err
	}
	ports, err := address.ParsePorts(d.job.cfg.Ports)
	if err != nil {
		return err
	}
	open := func(host string) (l net.Listener, err error) {
		err = ports.Open(func(port uint16) (err error) {
			l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
			return err
		})
		return l, err
	}
	if d.job.cfg.Interface == "" {
		l, err := open("")
		if err != nil {
			return err
		}
		d.listeners = append(d.listeners, l)
		port := l.Addr().(*net.TCPAddr).Port
		for _, a := range chosen {
			d.addresses = append(d.addresses, net.JoinHostPort(a.String(), strconv.Itoa(port)))
		}
		return nil
	}
	for _, a := range chosen {
		l, err := open(a.String())
		if err != nil {
			return err
		}
		d.listeners = append(d.listeners, l)
		d.addresses = append(d.addresses, address.Told(l))
	}
	return nil
}

// addressesFrom returns all addresses, the one that has worked first.
func (d *doorway) addressesFrom(worked string) []string {
	all := slices.DeleteFunc(slices.Clone(d.addresses), func(a string) bool { return a == worked })
	return append([]string{worked}, all...)
}

// addressesOf returns all addresses, first that of this host by which somebody has come, if
// the doorway is open there.
func (d *doorway) addressesOf(at net.Addr) []string {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return d.addresses
	}
	own := tcp.AddrPort().Addr().Unmap().WithZone("").String()
	if d.job.cfg.Interface == "" && len(d.listeners) > 0 {
		_, port, _ := net.SplitHostPort(d.listeners[0].Addr().String())
		return d.addressesFrom(net.JoinHostPort(own, port))
	}
	for _, a := range d.addresses {
		if host, _, _ := net.SplitHostPort(a); host == own {
			return d.addressesFrom(a)
		}
	}
	return d.addresses
}

// check refuses who holds the key but is not expected.
func (d *doorway) check(h auth.Hello) error {
	if h.Role != auth.RoleAgent {
		return d.job.server.Check(h)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case h.Version != agent.Version:
		return fmt.Errorf("an agent that speaks version %d; the launcher speaks version %d", h.Version, agent.Version)
	case h.Job != d.job.id:
		return fmt.Errorf("an agent of job %s; this is job %s", h.Job, d.job.id)
	case d.agents[h.From] == nil:
		return fmt.Errorf("host %d has an agent already, or needs none", h.From)
	}
	return nil
}

// pass hands a connection to whom it is for.
func (d *doorway) pass(conn net.Conn, h auth.Hello) {
	if h.Role != auth.RoleAgent {
		if err := d.job.server.Serve(conn, base.Rank(h.From)); err != nil {
			d.job.cfg.Log(err.Error())
		}
		return
	}
	d.mu.Lock()
	r := d.agents[h.From]
	delete(d.agents, h.From)
	d.mu.Unlock()
	if r == nil {
		conn.Close()
		return
	}
	d.job.cfg.Log(fmt.Sprintf("the agent of host %s has connected from %s", r.Name, conn.RemoteAddr()))
	r.Attach(conn)
}

// close lets nobody in any more. It works on nil.
func (d *doorway) close() {
	if d != nil {
		d.gate.Close()
	}
}

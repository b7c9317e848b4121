package boot

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// A host is the rendezvous of a job without a launcher: rank 0 serves the
// others, and itself. When it is gone, so is the job's way to begin anything
// new; that is why its Close waits for the others.
type host struct {
	*client
	server    *Server
	listeners []net.Listener
	gate      *auth.Gate
	over      chan struct{} // closed when the rendezvous ends
	ending    sync.Once
	serving   sync.WaitGroup // what runs until then
}

// newHost serves a job on listeners, which it takes, and begins the session of
// rank 0.
func newHost(listeners []net.Listener, info Info, m meeting, heartbeat time.Duration) (*host, error) {
	h := &host{listeners: listeners, over: make(chan struct{})}
	if err := h.open(info, m, heartbeat); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

func (h *host) open(info Info, m meeting, heartbeat time.Duration) error {
	var err error
	if h.server, err = NewServer(info.Job, info.Size, h.kill); err != nil {
		return err
	}
	h.server.hosted, h.server.authority, h.server.own, h.server.unresolved = true, nil, m.proof, m.unresolved
	h.server.SetHeartbeat(heartbeat)
	h.server.OnError(func(r base.Rank, err error) { m.tell.logs(fmt.Sprintf("rank %d: %v", r, err)) })
	var secure *tls.Config
	if m.secure {
		if secure, _, err = m.proof.Key.TLS(info.Job); err != nil {
			return err
		}
	}
	h.gate = auth.NewGate(auth.GateConfig{Credentials: m.proof, TLS: secure, Check: h.server.Check, Log: m.tell.log, Refused: h.server.noteRefusal})
	h.gate.Open(h.listeners, h.accept, func(err error) { h.server.report(0, err) })
	h.serving.Go(func() { h.server.AwaitAll(h.over, m.patience, m.tell.wait) })
	child, err := h.server.Attach(info.Rank)
	if err != nil {
		return err
	}
	defer child.Close() // FileConn has a duplicate
	conn, err := net.FileConn(child)
	if err != nil {
		return err
	}
	if at, ok := h.listeners[0].Addr().(*net.TCPAddr); ok && !at.IP.IsUnspecified() {
		info.Rendezvous, _ = address.Own(at.AddrPort().Addr()) // a listener does not know its zone
	}
	h.client, err = dial(conn, info)
	return err
}

// accept takes the connection of a rank.
func (h *host) accept(conn net.Conn, hello auth.Hello) {
	r := base.Rank(hello.From)
	if err := h.server.Serve(conn, r); err != nil {
		h.server.report(r, err)
	}
}

// kill asks a rank to end itself, since nobody here can reach its process. One
// that does not read is noticed by its silence.
func (h *host) kill(r base.Rank) error {
	h.server.mu.Lock()
	l := h.server.links[r]
	h.server.mu.Unlock()
	if l == nil {
		return errors.New("it has not joined yet, so it cannot be asked to end")
	}
	return l.say(message{Kind: kindDie, Rank: r})
}

// Close says goodbye, waits until all ranks that had joined have left or are
// gone, and ends the rendezvous.
func (h *host) Close() error {
	h.server.letNobodyIn("rank 0, which holds the rendezvous, has left")
	err := h.client.Close()
	h.server.drain()
	h.stop()
	return err
}

func (h *host) stop() {
	h.ending.Do(func() { close(h.over) })
	auth.CloseAll(h.listeners)
	h.gate.Close()
	h.serving.Wait()
	if h.server != nil {
		h.server.Close()
	}
}

// letNobodyIn refuses ranks that have not joined yet.
func (s *Server) letNobodyIn(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = why
}

// drain waits until all ranks that had joined are gone.
func (s *Server) drain() {
	s.mu.Lock()
	links := slices.Clone(s.links)
	s.mu.Unlock()
	for _, l := range links {
		if l != nil {
			<-l.received
		}
	}
}

// listen opens the port of each of m.addresses: on the addresses of this host that it
// names, or on all of them if it names none, as behind a service of a cluster. It notes a
// name that does not resolve.
func (m *meeting) listen(ctx context.Context) ([]net.Listener, error) {
	places, err := m.listenAt(ctx)
	if err != nil {
		return nil, err
	}
	listeners, err := auth.ListenAll(places)
	if err != nil {
		return nil, m.cannotListen(err)
	}
	return listeners, nil
}

// cannotListen says why rank 0 cannot open the rendezvous.
func (m *meeting) cannotListen(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("rank 0 holds the rendezvous of the job, and cannot: %w", err)
	}
	return fmt.Errorf("rank 0 holds the rendezvous of the job, and another process already listens there (%w): if that is of this job, two processes have rank 0, so give each rank a number of its own; else choose another %s",
		err, cmp.Or(m.variable, EnvRendezvous))
}

// ListenAt returns where the rendezvous listens that others reach at these addresses, as
// host:port: at those that belong to this host, or at the ports on all of its addresses if
// none does, as behind a service of a cluster. It asks the resolver for at most 3 s; a name
// that is not known yet belongs to no host. The error says which of them is no host:port.
func ListenAt(ctx context.Context, addresses []string) ([]string, error) {
	m := meeting{addresses: addresses}
	return m.listenAt(ctx)
}

// listenAt returns where to listen, each place once.
func (m *meeting) listenAt(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var here, everywhere []string
	for _, at := range m.addresses {
		name, port, err := net.SplitHostPort(at)
		if err != nil {
			return nil, fmt.Errorf("nobody can listen at %q: %w", at, err)
		}
		everywhere = append(everywhere, net.JoinHostPort("", port))
		own, _, err := ownOf(ctx, name)
		if err != nil {
			m.unresolved = err
		}
		for _, a := range own {
			here = append(here, net.JoinHostPort(a.String(), port))
		}
	}
	if len(here) == 0 {
		here = everywhere
	}
	slices.Sort(here)
	return slices.Compact(here), nil
}

// ownOf returns the addresses of a name, or of itself if it is an address, that belong to this host, and the others.
func ownOf(ctx context.Context, name string) (own, foreign []netip.Addr, err error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	for _, ip := range ips {
		if a, ok := address.Own(ip); ok {
			own = append(own, a)
		} else {
			foreign = append(foreign, ip.Unmap())
		}
	}
	return own, foreign, err
}

// Elsewhere says why an address, as host:port, does not lead to this host as far as this host knows; it is empty if it
// does. It asks the resolver for at most 1 s.
func Elsewhere(ctx context.Context, at string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	name, _, err := net.SplitHostPort(at)
	if err != nil {
		return err.Error()
	}
	own, foreign, err := ownOf(ctx, name)
	var dns *net.DNSError
	switch {
	case len(own) > 0:
		return ""
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("the name %s does not resolve here", name)
	case err != nil:
		return fmt.Sprintf("the name %s does not resolve here (%v)", name, err)
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return fmt.Sprintf("%s is no address of this host", name)
	}
	return fmt.Sprintf("%s is %v, which is no address of this host", name, foreign[0])
}

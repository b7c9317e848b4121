package auth

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// GateConfig says whom a gate lets pass.
type GateConfig struct {
	Credentials                   // what this side proves, and visitors must prove to belong to
	TLS         *tls.Config       // nil: no TLS; else the server's half of [Key.TLS]
	Check       func(Hello) error // refuses with its error, which is told to the peer; nil: all who belong to the job. Safe for concurrent use.
	// Failed hears of each connection that Check let pass and that is not given to pass, because it
	// broke or took too long before the handshake was over; nil: nobody does. Safe for concurrent use.
	Failed func(Hello)
	Log    func(line string) // hears of refusals, at most 10 lines in 10 s; nil: nobody does. Safe for concurrent use.
	// Refused hears of each connection that was refused, from where it came and why; nil: nobody
	// does. Safe for concurrent use.
	Refused func(from string, why error)
}

// A Gate runs the handshakes of one or several listeners, many at a time. No number of
// strangers keeps a peer that has the key outside: see crowd.
type Gate struct {
	cfg     GateConfig
	log     limitedLog
	ongoing sync.WaitGroup

	listeners []net.Listener // of Open
	serving   sync.WaitGroup

	mu       sync.Mutex
	visitors crowd // who has proven nothing yet
	inside   map[*visitor]bool
	closed   bool
}

// errCrowded is why a visitor was thrown out.
var errCrowded = errors.New("it has not proven anything in time, and others are waiting")

// NewGate returns a gate.
func NewGate(cfg GateConfig) *Gate {
	g := &Gate{cfg: cfg, visitors: newCrowd(placesHere()), inside: map[*visitor]bool{}}
	g.log.print = cfg.Log
	return g
}

// Open serves listeners, which the gate takes, each as Serve does and on a goroutine of its own,
// until Close. failed hears what else has ended one.
func (g *Gate) Open(listeners []net.Listener, pass func(net.Conn, Hello), failed func(error)) {
	g.listeners = listeners
	for _, l := range listeners {
		g.serving.Go(func() {
			if err := g.Serve(l, pass); err != nil {
				failed(err)
			}
		})
	}
}

// Close closes the listeners of Open and waits for what Serve waits for. It works on nil.
func (g *Gate) Close() {
	if g == nil {
		return
	}
	CloseAll(g.listeners)
	g.serving.Wait()
}

// ListenAll opens a listener at each of the places, as host:port, or none: it returns the error of the
// first that cannot be opened.
func ListenAll(places []string) ([]net.Listener, error) {
	var opened []net.Listener
	for _, at := range places {
		l, err := net.Listen("tcp", at)
		if err != nil {
			CloseAll(opened)
			return nil, err
		}
		opened = append(opened, l)
	}
	return opened, nil
}

// CloseAll closes listeners.
func CloseAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// Serve accepts connections of l, lets each prove what it is, and calls pass
// with those that may pass and what they said. pass takes the connection, which is what
// [Client] describes; it runs on a goroutine of its own and must return soon.
//
// It blocks until l is closed, which is its caller's business; then it ends the
// handshakes under way, waits for calls of pass, and returns nil. Other errors
// are those of l. A gate whose first listener was closed lets nobody in any more.
func (g *Gate) Serve(l net.Listener, pass func(net.Conn, Hello)) error {
	defer g.stop()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				continue
			}
			if !isPassing(err) {
				return fmt.Errorf("accepting connections at %s: %w", l.Addr(), err)
			}
			g.log.line(fmt.Sprintf("cannot accept a connection at %s for now: %v", l.Addr(), err))
			time.Sleep(50 * time.Millisecond) // sleep: out of descriptors; nothing tells when there are some again
			continue
		}
		v := &visitor{conn: conn, from: sourceOf(conn), since: time.Now()}
		conn.SetDeadline(v.since.Add(patience))
		if g.enter(v) {
			g.ongoing.Go(func() { g.admit(v, pass) })
		}
	}
}

// enter gives a visitor a place, and throws out somebody else if need be.
func (g *Gate) enter(v *visitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		v.conn.Close()
		return false
	}
	if late := g.visitors.add(v); late != nil {
		late.thrown = true
		late.conn.Close()
	}
	return true
}

// heard notes that a visitor has said who it wants to be.
func (g *Gate) heard(v *visitor) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v.spoke = true
}

// proven takes a visitor that holds the key out of the crowd, unless it is too late.
func (g *Gate) proven(v *visitor) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.thrown || g.closed {
		return errCrowded
	}
	g.visitors.remove(v)
	g.inside[v] = true
	return nil
}

// leave forgets a visitor, and reports whether the gate is still open for it.
func (g *Gate) leave(v *visitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !v.thrown {
		g.visitors.remove(v)
	}
	delete(g.inside, v)
	return !g.closed && !v.thrown
}

// admit lets one visitor pass or refuses it.
func (g *Gate) admit(v *visitor, pass func(net.Conn, Hello)) {
	cfg, checked := g.cfg, false
	cfg.Check = func(h Hello) error {
		if err := g.proven(v); err != nil {
			return err
		}
		if g.cfg.Check != nil {
			if err := g.cfg.Check(h); err != nil {
				return err
			}
		}
		checked = true
		return nil
	}
	conn, hello, err := server(v.conn, cfg, func() { g.heard(v) })
	if err != nil && !errors.Is(err, net.ErrClosed) {
		g.refuse(v, err)
		linger(v.conn)
	}
	open := g.leave(v)
	if err != nil && v.thrown {
		g.refuse(v, errCrowded)
	}
	if err != nil || !open {
		v.conn.Close()
		if checked && g.cfg.Failed != nil {
			g.cfg.Failed(hello)
		}
		return
	}
	v.conn.SetDeadline(time.Time{})
	pass(conn, hello)
}

// refuse says that a visitor is refused.
func (g *Gate) refuse(v *visitor, why error) {
	g.log.line(fmt.Sprintf("refused a connection from %s: %v", name(v.conn), why))
	if g.cfg.Refused != nil {
		g.cfg.Refused(name(v.conn), why)
	}
}

// linger ends a connection that was refused such that what it was told arrives:
// closing with bytes left unread would make the system take it back. The caller
// closes conn.
func linger(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		var rest [256]byte
		conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		conn.Read(rest[:])
	}
}

// stop ends the handshakes under way and waits for them.
func (g *Gate) stop() {
	g.mu.Lock()
	g.closed = true
	for e := g.visitors.all.Front(); e != nil; e = e.Next() {
		e.Value.(*visitor).conn.Close()
	}
	for v := range g.inside {
		v.conn.Close()
	}
	g.mu.Unlock()
	g.ongoing.Wait()
}

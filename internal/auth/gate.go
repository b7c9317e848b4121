package auth

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// maxUnderWay bounds the handshakes of one gate that are under way, and with
// them what strangers can make a process allocate: each takes about 1.5 KiB.
// More connections wait in the backlog of the system.
const maxUnderWay = 32

// crowded is how long a handshake may take while others wait for their turn. An
// honest one takes milliseconds, or a second on a machine that is starting
// hundreds of ranks; who is thrown out by mistake comes again. So silence at all
// places keeps nobody out for longer than this.
const crowded = 2 * time.Second

// GateConfig says whom a gate lets pass.
type GateConfig struct {
	Key   Key               // what visitors must prove to hold
	TLS   *tls.Config       // nil: no TLS; else the server's half of [Key.TLS]
	Check func(Hello) error // refuses with its error, which is told to the peer; nil: all who hold the key. Safe for concurrent use.
	Log   func(line string) // hears of refusals, at most 10 lines in 10 s; nil: nobody does. Safe for concurrent use.
}

// A Gate runs the handshakes of one listener, several at a time.
type Gate struct {
	cfg     GateConfig
	log     limitedLog
	places  chan struct{} // a token for each handshake under way
	ongoing sync.WaitGroup

	mu       sync.Mutex
	underWay []*visitor // oldest first
	closed   bool
}

// A visitor is a connection whose handshake is under way.
type visitor struct {
	conn  net.Conn
	since time.Time
}

// NewGate returns a gate.
func NewGate(cfg GateConfig) *Gate {
	g := &Gate{cfg: cfg, places: make(chan struct{}, maxUnderWay)}
	g.log.print = cfg.Log
	return g
}

// Serve accepts connections of l, lets each prove what it is, and calls pass
// with those that may pass and what they said. pass takes the connection; it
// runs on a goroutine of its own and must return soon.
//
// It blocks until l is closed, which is its caller's business; then it ends the
// handshakes under way, waits for calls of pass, and returns nil. Other errors
// are those of l.
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
		g.place()
		v := g.enter(conn)
		g.ongoing.Go(func() { g.admit(v, pass) })
	}
}

// place waits until fewer than maxUnderWay handshakes are under way. Those that
// have had their share of time are hurried.
func (g *Gate) place() {
	select {
	case g.places <- struct{}{}:
		return
	default:
	}
	g.mu.Lock()
	for _, v := range g.underWay {
		v.conn.SetDeadline(v.since.Add(crowded))
	}
	g.mu.Unlock()
	g.places <- struct{}{}
}

// enter notes a visitor and sets its time limit; nothing but the gate changes
// it until the handshake is over.
func (g *Gate) enter(conn net.Conn) *visitor {
	v := &visitor{conn: conn, since: time.Now()}
	g.mu.Lock()
	defer g.mu.Unlock()
	conn.SetDeadline(v.since.Add(patience))
	g.underWay = append(g.underWay, v)
	return v
}

// leave forgets a visitor, removes its time limit, and reports whether the gate
// is still open.
func (g *Gate) leave(v *visitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underWay = slices.DeleteFunc(g.underWay, func(o *visitor) bool { return o == v })
	v.conn.SetDeadline(time.Time{})
	return !g.closed
}

// admit lets one visitor pass or refuses it.
func (g *Gate) admit(v *visitor, pass func(net.Conn, Hello)) {
	conn, hello, err := server(v.conn, g.cfg.Key, g.cfg.Check, g.cfg.TLS)
	open := g.leave(v)
	if err != nil && (open || !errors.Is(err, net.ErrClosed)) { // which stop did
		g.log.line(fmt.Sprintf("refused a connection from %s: %v", name(v.conn), err))
		linger(v.conn)
	}
	<-g.places
	if err != nil || !open {
		v.conn.Close()
		return
	}
	pass(conn, hello)
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
	for _, v := range g.underWay {
		v.conn.Close()
	}
	g.mu.Unlock()
	g.ongoing.Wait()
}

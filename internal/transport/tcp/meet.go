package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A lane is a connection that may not have been made yet.
type lane struct {
	conn atomic.Pointer[conn]

	// All guarded by link.mu.
	dialling bool          // this side is connecting
	coming   *time.Timer   // this side has agreed to a connection of the peer's, until then; else nil
	fault    error         // why the last attempt came to nothing, though the peer is not gone
	opened   chan struct{} // closed when conn is there
}

// Both ranks may connect at the same time, when only one connection is wanted:
// then the one that the lower rank dials is it. The other rank, which is told so,
// waits for it.
const useMine = "use the connection that is coming from here"

var errUseMine = errors.New(useMine)

// conn is the connection of lane n, made if need be.
func (l *link) conn(ctx context.Context, n uint32) (*conn, error) {
	n %= uint32(len(l.lanes))
	if c := l.lanes[n].conn.Load(); c != nil {
		return c, nil
	}
	return l.open(ctx, int(n))
}

// open waits for a connection. Whoever comes first sets out to make it.
func (l *link) open(ctx context.Context, n int) (*conn, error) {
	lane := &l.lanes[n]
	for {
		if err := l.setOut(n); err != nil {
			return nil, err
		}
		var fault error
		err := l.await(ctx, func() bool {
			if lane.conn.Load() != nil || l.lost.Load() != nil {
				return true
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			fault = lane.fault
			return fault != nil || !lane.dialling && lane.coming == nil
		})
		if gone := l.gone(); gone != nil {
			return nil, gone
		}
		if c := lane.conn.Load(); c != nil {
			return c, nil
		}
		if err == nil {
			err = fault
		}
		if err != nil {
			return nil, err
		}
		// A connection that the peer made came to nothing: it is this side's turn.
	}
}

// setOut begins to connect, unless it is being done.
func (l *link) setOut(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.gone(); err != nil {
		return err
	}
	lane := &l.lanes[n]
	if lane.conn.Load() == nil && !lane.dialling && lane.coming == nil {
		opened := make(chan struct{})
		lane.dialling, lane.fault, lane.opened = true, nil, opened
		l.t.work.Go(func() { l.dial(n, opened) })
	}
	return nil
}

// dial makes the connection of a lane, or finds out that the peer is gone.
func (l *link) dial(n int, opened chan struct{}) {
	for {
		c, err := l.connect(n)
		if err == nil {
			l.join(c, n)
			return
		}
		if !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), useMine) {
			l.failed(n, err)
			return
		}
		// The peer is there, and connecting. If that takes long, it is asked whether it still is.
		late := time.NewTimer(l.t.cfg.Silence)
		select {
		case <-opened:
		case <-l.t.ctx.Done():
		case <-late.C:
		}
		late.Stop()
		if l.lanes[n].conn.Load() != nil || l.t.ctx.Err() != nil || l.gone() != nil {
			return
		}
	}
}

// failed draws the conclusions from an attempt to connect that came to nothing.
func (l *link) failed(n int, err error) {
	lane := &l.lanes[n]
	if l.t.ctx.Err() != nil {
		return
	}
	if gone, ok := errors.AsType[*base.RankError](err); ok {
		l.lose(gone, false)
		return
	}
	if unknown, ok := errors.AsType[*lookupError](err); ok {
		l.mu.Lock()
		lane.dialling, lane.fault = false, unknown.err
		l.mu.Unlock()
		l.board.Wake()
		return
	}
	if lane.conn.Load() == nil {
		l.lose(&base.RankError{Rank: l.rank, Reason: "cannot connect to it: " + err.Error()}, false)
	}
}

// lookupError says that it is not known where a rank is. That tells nothing about
// the rank.
type lookupError struct{ err error }

// Error is that of the lookup.
func (e *lookupError) Error() string { return e.err.Error() }

// A peer that cannot be reached is asked again after a pause, for as long as it may be
// silent: ways come and go, as when a cable was pulled or a host has just been plugged in
// and its neighbours do not know it yet, and whoever holds the rendezvous is faster than
// that to say that a rank is gone. A peer whose host answers, and that only does not finish
// the handshake, is not silent: it is one of hundreds that share a few cores, or suspended,
// or among strangers. It is asked until it is known to be gone.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	leastTries = 2 // time is over at once for a rank that was suspended meanwhile
)

// errUnfinished says that the peer's host has answered, and the handshake came to no end.
var errUnfinished = errors.New("the handshake came to no end")

// connect tries the peer's addresses, again and again.
func (l *link) connect(n int) (c net.Conn, err error) {
	heard, pause := time.Now(), firstPause
	for try := 1; ; try++ {
		c, err = l.connectOnce(n)
		if err == nil || l.gone() != nil || isFinal(err) {
			return c, err
		}
		if errors.Is(err, errUnfinished) {
			heard, try = time.Now(), 1
		}
		if try >= leastTries && time.Since(heard) >= l.t.cfg.Silence {
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-l.t.ctx.Done():
			return nil, err
		}
		pause = min(2*pause, lastPause)
	}
}

// isFinal reports whether another attempt would not end otherwise: the peer itself does not
// want the connection, or the question where it is was answered.
func isFinal(err error) bool {
	if _, ok := errors.AsType[*base.RankError](err); ok {
		return true
	}
	_, unknown := errors.AsType[*lookupError](err)
	return unknown || errors.Is(err, auth.ErrRefused)
}

// connectOnce tries the peer's addresses one after the other.
func (l *link) connectOnce(n int) (net.Conn, error) {
	cfg := &l.t.cfg
	addresses, err := cfg.Lookup(l.t.ctx, l.rank)
	if err != nil {
		if _, ok := errors.AsType[*base.RankError](err); ok {
			return nil, err
		}
		return nil, &lookupError{fmt.Errorf("address of rank %d: %w", l.rank, err)}
	}
	var failures []error
	for address := range strings.SplitSeq(addresses, ",") {
		c, err := l.connectTo(address, n)
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
		if errors.Is(err, auth.ErrRefused) {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func (l *link) connectTo(address string, n int) (net.Conn, error) {
	cfg := &l.t.cfg
	dialer := net.Dialer{Timeout: cfg.Silence, KeepAlive: -1}
	var c net.Conn
	err := cfg.within(func() (err error) {
		c, err = dialer.DialContext(l.t.ctx, "tcp", address)
		return err
	})
	if errors.Is(err, syscall.ECONNRESET) { // somebody has accepted, and closed before this side saw it
		err = fmt.Errorf("%w: %w", errUnfinished, err)
	}
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(l.t.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	secured, err := auth.Client(c, cfg.Credentials, auth.Hello{
		Role: auth.RoleLane, Job: cfg.Job, From: int32(cfg.Rank), To: int32(l.rank), Lane: uint16(n), Version: Version,
	}, l.t.secure)
	if err != nil {
		c.Close()
		// At an address that hosts give out themselves, another host's process may listen.
		if !errors.Is(err, auth.ErrRefused) && !errors.Is(err, auth.ErrUnproven) {
			err = fmt.Errorf("%w: %w", errUnfinished, err)
		}
		return nil, err
	}
	return secured, nil
}

// admit says whether a peer that has proven to hold the key may connect.
func (t *Transport) admit(h auth.Hello) error {
	switch {
	case h.Role != auth.RoleLane:
		return fmt.Errorf("this is where ranks connect, not a %s", h.Role)
	case h.Job != t.cfg.Job:
		return fmt.Errorf("this is job %s", t.cfg.Job)
	case h.Version != Version:
		return fmt.Errorf("this side speaks version %d, the other version %d: build all ranks from the same version of the module", Version, h.Version)
	case h.To != int32(t.cfg.Rank):
		return fmt.Errorf("this is rank %d", t.cfg.Rank)
	case int(h.From) >= t.cfg.Size || h.From == h.To:
		return fmt.Errorf("there is no rank %d of %d to connect from", h.From, t.cfg.Size)
	case int(h.Lane) >= t.cfg.Lanes:
		return fmt.Errorf("there is no lane %d of %d", h.Lane, t.cfg.Lanes)
	}
	l := t.link(base.Rank(h.From))
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.gone(); err != nil {
		return err
	}
	lane := &l.lanes[h.Lane]
	if lane.conn.Load() != nil || lane.dialling && t.cfg.Rank < l.rank {
		return errUseMine
	}
	if lane.coming != nil {
		lane.coming.Stop() // that attempt came to nothing, or the peer would not try again
	}
	// What is agreed may come to nothing when the peer ends now.
	var coming *time.Timer
	coming = time.AfterFunc(t.cfg.Silence, func() {
		l.mu.Lock()
		if lane.coming == coming {
			lane.coming = nil
		}
		l.mu.Unlock()
		l.board.Wake()
	})
	lane.coming = coming
	return nil
}

// adopt takes a connection that a peer has made.
func (t *Transport) adopt(c net.Conn, h auth.Hello) {
	t.link(base.Rank(h.From)).join(c, int(h.Lane))
}

// join makes nc the connection of a lane. Both sides of a lane agree on which one
// it is before, so there is no other.
func (l *link) join(nc net.Conn, n int) {
	c := newConn(l.t, l, n)
	if err := c.open(nc); err != nil {
		l.lose(&base.RankError{Rank: l.rank, Reason: "its connection cannot be used: " + err.Error()}, false)
		return
	}
	l.mu.Lock()
	lane := &l.lanes[n]
	err := l.gone()
	if err == nil && lane.conn.Load() != nil {
		err = errUseMine
	}
	if lane.coming != nil {
		lane.coming.Stop()
		lane.coming = nil
	}
	if err == nil {
		lane.dialling = false
		lane.conn.Store(c)
		l.t.conns[c.key].Store(c)
		if lane.opened != nil {
			close(lane.opened)
			lane.opened = nil
		}
	}
	l.mu.Unlock()
	if err != nil {
		c.end(err)
		return
	}
	c.start()
	l.board.Wake()
}

// open makes c a connection with nc's socket.
func (c *conn) open(nc net.Conn) error {
	opt := sys.SocketOptions{Congestion: c.t.cfg.Congestion, Silence: c.t.cfg.Silence}
	if opt.Congestion == "" && sameHost(nc) {
		opt.Congestion = "reno"
	}
	if secured, ok := nc.(*tls.Conn); ok {
		c.secure, c.under = nc, secured.NetConn().(*net.TCPConn)
		sys.SetSocket(c.under, opt)
		return nil
	}
	var err error
	c.fd, err = sys.TakeSocket(nc.(*net.TCPConn), opt)
	return err
}

// sameHost reports whether both ends of a connection are on one host.
func sameHost(nc net.Conn) bool {
	here, ok1 := nc.LocalAddr().(*net.TCPAddr)
	there, ok2 := nc.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && here.IP.Equal(there.IP)
}

// start lets the connection make progress, once it is in the tables.
func (c *conn) start() {
	if c.secure == nil {
		c.listen(true)
		return
	}
	c.t.work.Go(c.sendLoop)
	c.t.work.Go(c.receiveLoop)
}

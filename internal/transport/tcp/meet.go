package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// A channel is the place of one connection to a peer, which may not have been made yet.
type channel struct {
	conn atomic.Pointer[conn]

	// All guarded by link.mu.
	dialling bool          // this side is connecting
	coming   int           // connections of the peer that this side has agreed to and are not decided
	reached  time.Time     // when it agreed to the last one
	fault    error         // why the last attempt came to nothing, though the peer is not gone
	opened   chan struct{} // closed when conn is there
}

// Both ranks may connect at the same time, when only one connection is wanted:
// then the connection that the lower rank dials is used. The other rank's is refused with
// useMine, and it waits.
const useMine = "use the connection that is coming from here"

var errUseMine = errors.New(useMine)

// comingMost is how many connections of one channel may be undecided. A peer makes one at a time, and
// others are those that it has given up and whose end has not come yet.
const comingMost = 8

// conn returns the connection of channel n modulo the number of channels. It makes it if
// need be, and blocks.
func (l *link) conn(ctx context.Context, n uint32) (*conn, error) {
	n %= uint32(len(l.channels))
	if c := l.channels[n].conn.Load(); c != nil {
		return c, nil
	}
	return l.open(ctx, int(n))
}

// open blocks until channel n has a connection. The first caller starts to dial.
func (l *link) open(ctx context.Context, n int) (*conn, error) {
	ch, begun := &l.channels[n], time.Now()
	for {
		if err := l.startDial(n, begun); err != nil {
			return nil, err
		}
		var fault error
		err := l.await(ctx, func() bool {
			if ch.conn.Load() != nil || l.peer.Lost() != nil {
				return true
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			fault = ch.fault
			return fault != nil || !ch.dialling && ch.coming == 0
		})
		if gone := l.peer.Err(); gone != nil {
			return nil, gone
		}
		if c := ch.conn.Load(); c != nil {
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

// startDial starts to connect, unless a connection is being made. The peer's host counts as
// silent since reached, or since the peer was heard of later.
func (l *link) startDial(n int, reached time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.peer.Err(); err != nil {
		return err
	}
	ch := &l.channels[n]
	if ch.conn.Load() == nil && !ch.dialling && ch.coming == 0 {
		opened := make(chan struct{})
		if ch.reached.After(reached) {
			reached = ch.reached
		}
		ch.dialling, ch.fault, ch.opened = true, nil, opened
		l.t.work.Go(func() { l.dial(n, reached, opened) })
	}
	return nil
}

// dial makes the connection of channel n, or finds out that the peer is gone. The peer's host
// counts as silent since reached.
func (l *link) dial(n int, reached time.Time, opened chan struct{}) {
	for {
		c, err := l.connect(n, reached)
		if err == nil {
			l.install(c, n)
			return
		}
		if !errors.Is(err, auth.ErrRefused) || !strings.Contains(err.Error(), useMine) {
			l.failed(n, err)
			return
		}
		// The peer is there, and connecting. If that takes long, this rank tries again.
		reached = time.Now()
		late := time.NewTimer(l.t.cfg.Silence)
		select {
		case <-opened:
		case <-l.t.ctx.Done():
		case <-late.C:
		}
		late.Stop()
		if l.channels[n].conn.Load() != nil || l.t.ctx.Err() != nil || l.peer.Err() != nil {
			return
		}
	}
}

// failed ends an attempt to connect that has failed with err.
func (l *link) failed(n int, err error) {
	ch := &l.channels[n]
	if l.t.ctx.Err() != nil {
		return
	}
	if gone, ok := errors.AsType[*base.RankError](err); ok {
		l.markLost(gone, false)
		return
	}
	if untried, ok := errors.AsType[*untriedError](err); ok {
		l.mu.Lock()
		ch.dialling, ch.fault = false, untried.error
		l.mu.Unlock()
		l.array.Wake()
		return
	}
	if ch.conn.Load() == nil {
		l.markLost(&base.RankError{Rank: l.peer.Rank, Reason: "cannot connect to it: " + err.Error()}, false)
	}
}

// An untriedError means that a connection could not be tried: the address of a rank is not known, or
// this side is out of descriptors or memory. The rank may be alive.
type untriedError struct {
	error
	last bool // another attempt would fail in the same way
}

// Unwrap returns the reason.
func (e *untriedError) Unwrap() error { return e.error }

// isOutOf reports whether err says that this side has none of something left that a connection takes.
func isOutOf(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENOBUFS)
}

// A connection attempt to a peer that cannot be reached is repeated after a pause, until
// Config.Silence is over: routes come and go, as when a cable was pulled, or a host was
// just plugged in and its neighbours do not know it yet; and the rendezvous reports a dead
// rank sooner. A peer whose host answers, and that only does not finish the handshake, is
// not silent: it is one of hundreds that share a few cores, or suspended, or another
// process has its address. The attempts go on until the peer is known to be gone.
//
// A host that refuses connections counts as silent: it may be out of room for them, or just
// have started. An attempt has what is left of the silence to reach the host, and at least a
// quarter of it and leastAttempt.
const (
	firstPause   = 20 * time.Millisecond
	lastPause    = 500 * time.Millisecond
	leastAttempt = 500 * time.Millisecond
	leastTries   = 2 // time is over at once for a rank that was suspended meanwhile
)

// errUnfinished means that the peer's host has answered, but the handshake did not end.
var errUnfinished = errors.New("the handshake came to no end")

// connect tries the peer's addresses, again and again. Its host counts as silent since
// reached.
func (l *link) connect(n int, reached time.Time) (c net.Conn, err error) {
	silence, pause := l.t.cfg.Silence, firstPause
	for try := 1; ; try++ {
		c, err = l.connectOnce(n, max(silence-time.Since(reached), silence/4, leastAttempt))
		if err == nil || l.peer.Err() != nil || isFinal(err) {
			return c, err
		}
		if errors.Is(err, errUnfinished) {
			reached, try = time.Now(), 1
		}
		if try >= leastTries && time.Since(reached) >= silence {
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

// isFinal reports whether another attempt would fail in the same way: the peer is gone, has
// refused the connection, or has no known address.
func isFinal(err error) bool {
	if _, ok := errors.AsType[*base.RankError](err); ok {
		return true
	}
	untried, ok := errors.AsType[*untriedError](err)
	return ok && untried.last || errors.Is(err, auth.ErrRefused)
}

// connectOnce tries the peer's addresses one after the other. Their hosts have limit to answer,
// all together.
func (l *link) connectOnce(n int, limit time.Duration) (net.Conn, error) {
	cfg := &l.t.cfg
	addresses, err := cfg.Lookup(l.t.ctx, l.peer.Rank)
	if err != nil {
		if _, ok := errors.AsType[*base.RankError](err); ok {
			return nil, err
		}
		return nil, &untriedError{fmt.Errorf("address of rank %d: %w", l.peer.Rank, err), true}
	}
	all := address.Reach(strings.Split(addresses, ","))
	var failures []error
	for _, at := range all {
		c, err := l.connectTo(at, n, limit/time.Duration(len(all)))
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
		if errors.Is(err, auth.ErrRefused) {
			break
		}
	}
	if err = base.OneLine(failures...); isOutOf(err) {
		err = &untriedError{fmt.Errorf("cannot connect to rank %d: %w", l.peer.Rank, err), false}
	}
	return nil, err
}

func (l *link) connectTo(at string, n int, limit time.Duration) (net.Conn, error) {
	cfg := &l.t.cfg
	dialer := net.Dialer{Timeout: limit, KeepAlive: -1}
	var c net.Conn
	err := cfg.within(func() (err error) {
		c, err = dialer.DialContext(l.t.ctx, "tcp", at)
		return err
	})
	if errors.Is(err, syscall.ECONNRESET) { // the other side has accepted and closed at once
		err = fmt.Errorf("%w: %w", errUnfinished, err)
	}
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(l.t.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var secured net.Conn
	err = whileHeard(c.(*net.TCPConn), cfg.Silence, func() (err error) {
		secured, err = auth.Client(c, cfg.Credentials, auth.Hello{
			Role: auth.RoleLane, Job: cfg.Job, From: int32(cfg.Rank), To: int32(l.peer.Rank), Lane: uint16(n), Version: Version,
		}, l.t.secure)
		if err == nil {
			err = sendReady(secured)
		}
		return err
	})
	if err != nil {
		c.Close()
		// At an address that hosts give out themselves, another host's process may listen.
		_, silent := errors.AsType[errSilent](err)
		if !silent && !errors.Is(err, auth.ErrRefused) && !errors.Is(err, auth.ErrUnproven) {
			err = fmt.Errorf("%w: %w", errUnfinished, err)
		}
		return nil, err
	}
	return secured, nil
}

// admit returns an error unless the peer, which has proven to hold the key, may connect.
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
	case int(h.Lane) >= t.cfg.Connections:
		return fmt.Errorf("there is no lane %d of %d", h.Lane, t.cfg.Connections)
	}
	l := t.links.To(base.Rank(h.From))
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.peer.Err(); err != nil {
		return err
	}
	ch := &l.channels[h.Lane]
	if ch.conn.Load() != nil || ch.dialling && t.cfg.Rank < l.peer.Rank || ch.coming == comingMost {
		return errUseMine // in any case the peer waits, and tries again
	}
	ch.coming++
	ch.reached = time.Now()
	return nil
}

// decided notes that the connection of h, which admit agreed to, is in use or came to nothing.
func (t *Transport) decided(h auth.Hello) {
	l := t.links.To(base.Rank(h.From))
	l.mu.Lock()
	l.channels[h.Lane].coming--
	l.mu.Unlock()
	l.array.Wake()
}

// accept takes a connection that a peer has made, once the peer has said that it uses it.
func (t *Transport) accept(c net.Conn, h auth.Hello) {
	t.work.Go(func() {
		defer t.decided(h)
		if err := t.awaitReady(c); err != nil {
			c.Close()
			if t.ctx.Err() == nil {
				t.cfg.Log.Warn("gaspi: a connection from a rank came to nothing", "rank", t.cfg.Rank, "peer", h.From, "lane", h.Lane, "why", err)
			}
			return
		}
		t.links.To(base.Rank(h.From)).install(c, int(h.Lane))
	})
}

// The side that connects may give up while the last message of the handshake is on its way, and
// then tries again. So a connection is one only when that side has sent kindReady, which it does
// before it uses it. Until then the other side neither uses it nor takes its end for that of the
// peer, and waits for as long as the connection lasts: the first side may have begun.

// sendReady decides that the connection is used.
func sendReady(c net.Conn) error {
	var h [headSize]byte
	(&frame{kind: kindReady}).put(&h)
	_, err := c.Write(h[:])
	return err
}

// awaitReady blocks until the peer has sent kindReady. It fails when the connection breaks, the
// peer's host is silent, or the transport closes.
func (t *Transport) awaitReady(c net.Conn) error {
	under, ok := c.(*net.TCPConn)
	if !ok {
		under = c.(*tls.Conn).NetConn().(*net.TCPConn)
	}
	stop := context.AfterFunc(t.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return whileHeard(under, t.cfg.Silence, func() error {
		var h [headSize]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			return err
		}
		f, err := parse(&h)
		if err == nil && f.kind != kindReady {
			err = fmt.Errorf("the first frame is of kind %d", f.kind)
		}
		return err
	})
}

// install makes nc the connection of channel n. Both sides have agreed on it before, so
// there is no other.
func (l *link) install(nc net.Conn, n int) {
	c := newConn(l.t, l, n)
	if err := c.open(nc); err != nil {
		l.markLost(&base.RankError{Rank: l.peer.Rank, Reason: "its connection cannot be used: " + err.Error()}, false)
		return
	}
	l.mu.Lock()
	ch := &l.channels[n]
	err := l.peer.Err()
	if err == nil && ch.conn.Load() != nil {
		err = errUseMine
	}
	if err == nil {
		ch.dialling = false
		ch.conn.Store(c)
		l.t.conns[c.key].Store(c)
		if ch.opened != nil {
			close(ch.opened)
			ch.opened = nil
		}
	}
	l.mu.Unlock()
	if err != nil {
		c.end(err)
		return
	}
	c.start()
	l.array.Wake()
}

// start lets the connection make progress, once it is in the tables.
func (c *conn) start() {
	if c.secure == nil {
		c.watchReads(true)
		return
	}
	c.t.work.Go(c.sendLoop)
	c.t.work.Go(c.receiveLoop)
}

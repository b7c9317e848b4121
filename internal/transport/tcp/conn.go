package tcp

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A conn is one connection to a peer, for both directions. Its two halves have locks of
// their own. The lock of the outbox is taken after that of the inbox.
type conn struct {
	t      *Transport
	link   *link
	key    int          // index in Transport.conns
	fd     int          // -1 with TLS
	secure net.Conn     // with TLS, else nil
	under  *net.TCPConn // below secure

	byeReceived atomic.Bool // the peer sends nothing more

	out outbox
	in  receiver
}

func newConn(t *Transport, l *link, n int) *conn {
	c := &conn{t: t, link: l, key: int(l.peer.Rank)*t.cfg.Connections + n, fd: -1}
	c.out.init(c)
	return c
}

// open makes c a connection with nc's socket.
func (c *conn) open(nc net.Conn) error {
	opt := socket.Tuning{Congestion: c.t.cfg.Congestion, Silence: c.t.cfg.Silence}
	near := sameHost(nc)
	if opt.Congestion == "" && near {
		opt.Congestion = "reno"
	}
	c.out.gather.most = c.t.gatheredMost(near)
	if secured, ok := nc.(*tls.Conn); ok {
		c.secure, c.under = nc, secured.NetConn().(*net.TCPConn)
		socket.Set(c.under, opt)
		return nil
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := c.t.cfg.within(func() (err error) {
			c.fd, err = socket.Take(nc.(*net.TCPConn), opt)
			return err
		})
		switch {
		case err == nil:
			return nil
		case !isOutOf(err) || c.t.ctx.Err() != nil || c.link.peer.Err() != nil:
			nc.Close()
			return err
		}
		select { // the peer has agreed, and would take the end of the connection for this rank's
		case <-time.After(pause):
		case <-c.t.ctx.Done():
		}
	}
}

// sameHost reports whether both ends of a connection are on one host.
func sameHost(nc net.Conn) bool {
	here, ok1 := nc.LocalAddr().(*net.TCPAddr)
	there, ok2 := nc.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && here.IP.Equal(there.IP)
}

// end closes the connection. Everything that waits for it ends with err, now and
// later. Only the first call counts.
func (c *conn) end(err error) {
	c.in.mu.Lock()
	c.out.mu.Lock()
	ended := c.out.ended != nil
	var queued *queuedFrame
	var requests []*request
	if !ended {
		c.out.ended = err
		c.in.ended = true
		c.in.forget()
		queued, requests = c.out.emptyLocked()
		if c.secure != nil {
			c.under.Close() // without TLS's close_notify, which may block: kindBye replaces it
			c.out.more.Broadcast()
		} else {
			c.t.poller.Remove(c.fd)
			_ = sys.CloseFile(c.fd)
		}
	}
	c.out.mu.Unlock()
	c.in.mu.Unlock()
	for r := queued; r != nil; r = r.next {
		if r.queue != nil {
			r.queue.End(&r.op, err)
		}
	}
	for _, r := range requests {
		c.link.finish(r, 0, err)
	}
}

// release lets go of a segment that was withdrawn: when it returns, nothing is
// written into the segment or sent from it any more.
func (c *conn) release(x *region) {
	c.in.mu.Lock()
	if c.in.into == x {
		c.in.dst = nil
	}
	c.in.mu.Unlock()
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for r := c.out.first; r != nil; r = r.next {
		if r.from == x {
			r.from, r.body = nil, make([]byte, len(r.body))
		}
	}
}

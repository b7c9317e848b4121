package faulty

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// Transport is one rank's side of a Network. Its memory is that of the transport below.
type Transport struct {
	transport.Transport
	net    *Network
	rank   base.Rank
	lost   func(*base.RankError)
	links  []*link // index is the rank; of its own host, only what is lost counts
	nears  []*near // index is the rank; of its own host, others are not used
	closed bool    // guarded by net.mu
}

var _ transport.Transport = (*Transport)(nil)

// Join implements transport.Network. It returns when it is time for rank r.
func (n *Network) Join(r base.Rank, below transport.Transport, lost func(*base.RankError)) (transport.Transport, error) {
	if n.cfg.Arrive != nil {
		time.Sleep(n.cfg.Arrive[r]) // sleep: this is how late the rank is meant to be
	}
	t := &Transport{Transport: below, net: n, rank: r, lost: lost}
	for peer := range base.Rank(len(n.cfg.Hosts)) {
		inner, err := below.Link(peer)
		if err != nil {
			return nil, err
		}
		t.links = append(t.links, &link{t: t, rank: peer, inner: inner, open: make(map[*operation]struct{})})
		t.nears = append(t.nears, &near{Link: inner, t: t})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ranks[r] = t
	return t, nil
}

// Name implements transport.Transport.
func (t *Transport) Name() string { return "faulty " + t.Transport.Name() }

// Link implements transport.Transport.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	switch {
	case r < 0 || int(r) >= len(t.links):
		return nil, fmt.Errorf("%w: %d", base.ErrBadRank, r)
	case t.net.cfg.Hosts[r] == t.net.cfg.Hosts[t.rank]:
		return t.nears[r], nil
	}
	return t.links[r], nil
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	t.links[err.Rank].loseLocked(err)
	t.Transport.Lose(err)
}

// Hears reports whether something that rank r has sent may still arrive.
func (t *Transport) Hears(r base.Rank) bool {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	for key, f := range t.net.flows {
		if key.from == r && key.to == t.rank && len(f.legs) > 0 {
			return true
		}
	}
	return false
}

// Close implements transport.Transport. Operations under way still arrive, but nobody waits for
// them any more.
func (t *Transport) Close() error {
	t.net.mu.Lock()
	t.closed = true
	t.endLocked()
	t.net.mu.Unlock()
	return t.Transport.Close()
}

// endLocked ends all that waits for other ranks.
func (t *Transport) endLocked() {
	for _, l := range t.links {
		for x := range l.open {
			l.endLocked(x, base.ErrClosed)
		}
		l.closeDialLocked()
	}
}

// silent reports whether nothing of this rank reaches others, since it was stopped, with
// an error if it was killed.
func (t *Transport) silent() (bool, error) {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	if t.net.dead[t.rank] {
		return true, base.ErrClosed
	}
	return t.net.stopped[t.rank], nil
}

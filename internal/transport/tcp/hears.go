package tcp

import "github.com/gaspi-go/gaspi-go/internal/base"

// Hears reports whether something that rank r has sent may still arrive: there is
// a connection on which the peer has not said that nothing more comes.
func (t *Transport) Hears(r base.Rank) bool {
	if r == t.cfg.Rank || r < 0 || int(r) >= t.cfg.Size {
		return false
	}
	for lane := range t.cfg.Lanes {
		if c := t.conns[int(r)*t.cfg.Lanes+lane].Load(); c != nil && c.hears() {
			return true
		}
	}
	return false
}

func (c *conn) hears() bool {
	if c.left.Load() {
		return false
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return !c.in.ended
}

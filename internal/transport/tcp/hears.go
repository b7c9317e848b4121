package tcp

import "github.com/gaspi-go/gaspi-go/gaspi/base"

// Hears reports whether data that rank r has sent may still arrive: there is a connection
// on which the peer has not sent kindBye.
func (t *Transport) Hears(r base.Rank) bool {
	if r == t.cfg.Rank || r < 0 || int(r) >= t.cfg.Size {
		return false
	}
	for n := range t.cfg.Connections {
		if c := t.conns[int(r)*t.cfg.Connections+n].Load(); c != nil && c.hears() {
			return true
		}
	}
	return false
}

func (c *conn) hears() bool {
	if c.byeReceived.Load() {
		return false
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return !c.in.ended
}

package auth

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A gate has places for visitors that have proven nothing yet. They are as many as
// OpenSSH's MaxStartups would be if it were meant for jobs of thousands of ranks that may
// all come from one address, and bounded by the descriptors of the process, of which
// strangers can take a quarter. Each takes about 6 KiB.
const (
	mostPlaces   = 4096
	fewestPlaces = 32
	ofAllFiles   = 4
)

// From half of the places on, who comes makes one of a few others leave that has had its
// share of time: firstWord to say who it wants to be, and crowded for all it has to say. An
// honest peer takes milliseconds, or a second on a machine that is starting hundreds of
// ranks; who is thrown out by mistake comes again. If all places are taken, somebody leaves
// in any case, so whoever comes gets in. The choice is: if one address has more than an eighth
// of the places, connections from all others are spared; among the remaining ones the oldest
// leaves.
const (
	firstWord = time.Second
	crowded   = 2 * time.Second
	drawn     = 8 // visitors that are compared
	ofOneHost = 8 // the part of all places that one address may have
)

// A visitor is a connection whose handshake is under way. Its fields but the first three
// are guarded by the gate's mu.
type visitor struct {
	conn  net.Conn
	from  netip.Addr
	since time.Time

	spoke  bool // it has said who it wants to be
	thrown bool // somebody else has its place
	at     int  // its index in the crowd
}

// late reports whether a visitor has had its share of time.
func (v *visitor) late(now time.Time) bool {
	age := now.Sub(v.since)
	return age > crowded || age > firstWord && !v.spoke
}

// A crowd is the visitors of a gate that have proven nothing yet.
type crowd struct {
	places int
	all    []*visitor
	from   map[netip.Addr]int // how many come from where
}

func newCrowd(places int) crowd {
	return crowd{places: places, from: map[netip.Addr]int{}}
}

// placesHere is how many places a gate of this process has.
func placesHere() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewestPlaces
	}
	return int(max(fewestPlaces, min(limit.Cur/ofAllFiles, mostPlaces)))
}

// add gives v a place. It returns who has lost its own for it, or nil.
func (c *crowd) add(v *visitor) (thrown *visitor) {
	if len(c.all) >= c.places/2 {
		thrown = c.draw()
		if len(c.all) < c.places && !thrown.late(v.since) {
			thrown = nil
		}
	}
	if thrown != nil {
		c.remove(thrown)
	}
	v.at = len(c.all)
	c.all = append(c.all, v)
	c.from[v.from]++
	return thrown
}

// draw returns one of a few visitors that has to leave first.
func (c *crowd) draw() *visitor {
	first := c.all[rand.IntN(len(c.all))]
	for range drawn - 1 {
		if v := c.all[rand.IntN(len(c.all))]; c.before(v, first) {
			first = v
		}
	}
	return first
}

// before reports whether a has to leave before b.
func (c *crowd) before(a, b *visitor) bool {
	if many := c.many(a); many != c.many(b) {
		return many
	}
	return a.since.Before(b.since)
}

// many reports whether more visitors come from where v does than one address may have.
func (c *crowd) many(v *visitor) bool { return c.from[v.from] > c.places/ofOneHost }

// remove takes v out, if it is in.
func (c *crowd) remove(v *visitor) {
	if v.at >= len(c.all) || c.all[v.at] != v {
		return
	}
	last := c.all[len(c.all)-1]
	c.all[v.at], last.at = last, v.at
	c.all = c.all[:len(c.all)-1]
	if c.from[v.from]--; c.from[v.from] == 0 {
		delete(c.from, v.from)
	}
}

// sourceOf is the address that a visitor comes from.
func sourceOf(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

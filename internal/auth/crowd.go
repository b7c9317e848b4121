package auth

import (
	"container/list"
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

// From half of the places on, who comes makes the one leave that has to leave first, if that
// has had its share of time: firstWord to say who it wants to be, and crowded for all it has to
// say. An honest peer takes milliseconds, or a second on a machine that is starting hundreds of
// ranks; who is thrown out by mistake comes again. If all places are taken, somebody leaves in
// any case, so whoever comes gets in. First leaves the oldest visitor of the addresses that
// have more than an eighth of the places each, which spares all other addresses; where no
// address has, the oldest of all.
const (
	firstWord = time.Second
	crowded   = 2 * time.Second
	ofOneHost = 8 // the part of all places that one address may have
)

// A visitor is a connection whose handshake is under way. Its fields but the first three
// are guarded by the gate's mu.
type visitor struct {
	conn  net.Conn
	from  netip.Addr
	since time.Time

	spoke  bool          // it has said who it wants to be
	thrown bool          // somebody else has its place
	place  *list.Element // in crowd.all; nil if it is not in
	near   *list.Element // among the visitors from its address
}

// late reports whether a visitor has had its share of time.
func (v *visitor) late(now time.Time) bool {
	age := now.Sub(v.since)
	return age > crowded || age > firstWord && !v.spoke
}

// A crowd is the visitors of a gate that have proven nothing yet. Its lists have the oldest first.
type crowd struct {
	places int
	all    *list.List
	from   map[netip.Addr]*list.List
	many   map[netip.Addr]*list.List // those of from that are longer than an eighth of the places
}

func newCrowd(places int) crowd {
	return crowd{places: places, all: list.New(), from: map[netip.Addr]*list.List{}, many: map[netip.Addr]*list.List{}}
}

// placesHere is how many places a gate of this process has.
func placesHere() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fewestPlaces
	}
	return int(max(fewestPlaces, min(limit.Cur/ofAllFiles, mostPlaces)))
}

// add gives v a place. It returns who has lost its own for it, or nil. Visitors are added in
// the order in which they came.
func (c *crowd) add(v *visitor) (thrown *visitor) {
	if c.all.Len() >= c.places/2 {
		if first := c.first(); c.all.Len() >= c.places || first.late(v.since) {
			thrown = first
			c.remove(first)
		}
	}
	near := c.from[v.from]
	if near == nil {
		near = list.New()
		c.from[v.from] = near
	}
	v.place, v.near = c.all.PushBack(v), near.PushBack(v)
	if near.Len() > c.places/ofOneHost {
		c.many[v.from] = near
	}
	return thrown
}

// first returns the visitor that has to leave first. At most ofOneHost-1 addresses have many.
func (c *crowd) first() (first *visitor) {
	for _, near := range c.many {
		if v := near.Front().Value.(*visitor); first == nil || v.since.Before(first.since) {
			first = v
		}
	}
	if first == nil {
		first = c.all.Front().Value.(*visitor)
	}
	return first
}

// remove takes v out, if it is in.
func (c *crowd) remove(v *visitor) {
	if v.place == nil {
		return
	}
	near := c.from[v.from]
	c.all.Remove(v.place)
	near.Remove(v.near)
	v.place, v.near = nil, nil
	if near.Len() <= c.places/ofOneHost {
		delete(c.many, v.from)
	}
	if near.Len() == 0 {
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

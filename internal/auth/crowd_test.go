package auth

import (
	"container/list"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestCrowdKeepsItsBooks adds and removes at random, and compares with a plain count.
func TestCrowdKeepsItsBooks(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 2))
	c := newCrowd(40)
	in := map[*visitor]bool{}
	begun := time.Now()
	for step := range 20_000 {
		if random.IntN(3) > 0 || len(in) == 0 {
			v := &visitor{from: address(random.IntN(5)), since: begun.Add(time.Duration(step) * 50 * time.Millisecond), spoke: random.IntN(2) == 0}
			if late := c.add(v); late != nil {
				if !in[late] {
					t.Fatalf("seed %d step %d: somebody was thrown out who was not in", seed, step)
				}
				delete(in, late)
			}
			in[v] = true
		} else {
			for v := range in {
				c.remove(v)
				c.remove(v) // a second time is nothing
				delete(in, v)
				break
			}
		}
		if want := booksOf(c, in); want != "" {
			t.Fatalf("seed %d step %d: %s", seed, step, want)
		}
	}
}

// booksOf says where the lists of a crowd differ from those that are in, or nothing.
func booksOf(c crowd, in map[*visitor]bool) string {
	if c.all.Len() != len(in) || len(in) > c.places {
		return fmt.Sprintf("%d in of %d places, want %d", c.all.Len(), c.places, len(in))
	}
	from := map[netip.Addr]int{}
	var last time.Time
	for e := c.all.Front(); e != nil; e = e.Next() {
		v := e.Value.(*visitor)
		if !in[v] || v.place != e || v.near.Value != v || v.since.Before(last) {
			return "a place is not its visitor's, or not in the order of arrival"
		}
		from[v.from]++
		last = v.since
	}
	same := func(near *list.List, n int) bool { return near.Len() == n }
	if !maps.EqualFunc(c.from, from, same) {
		return fmt.Sprintf("addresses %v, want %v", c.from, from)
	}
	maps.DeleteFunc(from, func(_ netip.Addr, n int) bool { return n <= c.places/ofOneHost })
	if !maps.EqualFunc(c.many, from, same) {
		return fmt.Sprintf("addresses with many %v, want %v", c.many, from)
	}
	return ""
}

func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(n)}) }

// TestCrowdSparesThoseWhoJustCame plays floods against honest visitors that take a while,
// with a clock of its own. None of these is thrown out as long as its handshake takes less time
// than strangers take to fill the places that are not its address's.
func TestCrowdSparesThoseWhoJustCame(t *testing.T) {
	for _, c := range []struct {
		name      string
		strangers int           // a second
		hosts     int           // they come from
		same      bool          // as the honest ones
		takes     time.Duration // an honest visitor
	}{
		{"from one other address", 20_000, 1, false, 500 * time.Millisecond},
		{"from the same address, fast", 20_000, 1, true, 10 * time.Millisecond},
		{"from the same address, slow", 1_000, 1, true, 500 * time.Millisecond},
		{"from many addresses", 20_000, 5_000, false, 10 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			crowd := newCrowd(mostPlaces)
			now := time.Now()
			var honest []*visitor
			lost, done := 0, 0
			for step := 0; done < 10_000; step++ {
				now = now.Add(time.Second / time.Duration(c.strangers))
				from := netip.AddrFrom4([4]byte{192, 168, byte(step % c.hosts >> 8), byte(step % c.hosts)})
				mine := address(1)
				if c.same {
					mine = from
				}
				late := crowd.add(&visitor{from: from, since: now})
				if step%20 == 0 {
					v := &visitor{from: mine, since: now, spoke: true}
					honest = append(honest, v)
					if second := crowd.add(v); second != nil && second.from == mine && second.spoke {
						second.thrown = true
					}
				}
				if late != nil {
					late.thrown = true
				}
				for len(honest) > 0 && (honest[0].thrown || now.Sub(honest[0].since) > c.takes) {
					done++
					if honest[0].thrown {
						lost++
					} else {
						crowd.remove(honest[0])
					}
					honest = honest[1:]
				}
			}
			if lost > 0 {
				t.Errorf("%d of %d honest visitors were thrown out; want none", lost, done)
			}
		})
	}
}

// TestThousandsOfJobMatesComeInFromOneAddress has no strangers at all: nobody is thrown
// out while there are places.
func TestThousandsOfJobMatesComeInFromOneAddress(t *testing.T) {
	crowd := newCrowd(mostPlaces)
	now := time.Now()
	for i := range mostPlaces {
		if late := crowd.add(&visitor{from: address(1), since: now.Add(time.Duration(i) * 100 * time.Microsecond)}); late != nil {
			t.Fatalf("visitor %d has cost another one its place", i)
		}
	}
}

func TestSourceOf(t *testing.T) {
	for text, want := range map[string]string{"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "fe80::1": "fe80::1"} {
		conn := from{addr: &net.TCPAddr{IP: net.ParseIP(text), Zone: "eth0"}}
		if got := sourceOf(conn); got.String() != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	if got := sourceOf(from{addr: &net.UnixAddr{}}); got.IsValid() {
		t.Errorf("a socket without an address comes from %v", got)
	}
}

type from struct {
	net.Conn
	addr net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.addr }

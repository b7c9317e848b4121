package faulty

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Config says what a Network is like.
type Config struct {
	Hosts   []int           // index is the rank: its host; ranks of one host share memory
	Latency time.Duration   // a message between hosts travels for a random part of it
	Silence time.Duration   // how long a host may be silent; it is noticed up to a quarter of it later
	Verdict time.Duration   // a death is announced within a random part of it
	Arrive  []time.Duration // index is the rank: when it joins, after the start; nil for all at once
	Seed    uint64          // what random times are drawn from
}

// A Network is what the ranks of one job share.
type Network struct {
	cfg Config

	mu        sync.Mutex
	draw      *rand.Rand                 // guarded by mu
	launcher  transport.Launcher         // guarded by mu
	ranks     []*Transport               // guarded by mu; index is the rank; nil until Join
	flows     map[flowKey]*flow          // guarded by mu
	joined    map[[2]base.Rank]bool      // guarded by mu; pairs that are connected, lower rank first
	cuts      map[[2]int]bool            // guarded by mu; from a host to another
	stopped   []bool                     // guarded by mu; index is the rank
	dead      []bool                     // guarded by mu; index is the rank: it was killed
	announced []time.Time                // guarded by mu; index is the rank: when its end was announced
	broken    map[[2]base.Rank]time.Time // guarded by mu; of a rank and a peer: when its connection was lost
	orphaned  []time.Time                // guarded by mu; index is the rank: when it lost the launcher
	changed   error                      // guarded by mu; the first write whose source changed on its way
	hash      maphash.Hash               // guarded by mu

	refuse func(from, to base.Rank, id segment.ID) bool // guarded by mu; of each write that arrives
}

var _ transport.TestNetwork = (*Network)(nil)

// New makes a network.
func New(cfg Config) *Network {
	size := len(cfg.Hosts)
	n := &Network{
		cfg: cfg, draw: rand.New(rand.NewPCG(cfg.Seed, 1)), ranks: make([]*Transport, size), flows: make(map[flowKey]*flow),
		joined: make(map[[2]base.Rank]bool), cuts: make(map[[2]int]bool), stopped: make([]bool, size),
		dead: make([]bool, size), announced: make([]time.Time, size), broken: make(map[[2]base.Rank]time.Time),
		orphaned: make([]time.Time, size),
	}
	return n
}

// Begin implements transport.Network.
func (n *Network) Begin(l transport.Launcher) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.launcher = l
}

// Host implements transport.Network.
func (n *Network) Host(r base.Rank) int { return n.cfg.Hosts[r] }

// A Loss says how a rank has lost another: times are zero for what did not happen.
type Loss struct {
	Broken    time.Time // its connection was lost
	Announced time.Time // its end was announced
}

// Loss returns how rank r has lost a peer.
func (n *Network) Loss(r, peer base.Rank) Loss {
	n.mu.Lock()
	defer n.mu.Unlock()
	return Loss{Broken: n.broken[[2]base.Rank{r, peer}], Announced: n.announced[peer]}
}

// Changed returns an error that names the first write whose source the program changed before
// the write had ended, nil if there was none.
func (n *Network) Changed() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// Refuse has the network ask refuse of each write between hosts that arrives, with the rank that
// posted it and the rank and segment that it is for. Where it returns true the write has no effect
// and its operation ends with base.ErrNoSegment. Calls of refuse do not overlap.
func (n *Network) Refuse(refuse func(from, to base.Rank, id segment.ID) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuse = refuse
}

// sumLocked returns a checksum of the bytes of a span.
func (n *Network) sumLocked(s segment.Span) uint64 {
	if s.Len() == 0 {
		return 0
	}
	n.hash.Reset()
	n.hash.Write(s.Bytes()) // never fails
	return n.hash.Sum64()
}

// Killed reports whether rank r was killed.
func (n *Network) Killed(r base.Rank) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dead[r]
}

// Orphaned returns when rank r lost the launcher, zero if it did not.
func (n *Network) Orphaned(r base.Rank) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.orphaned[r]
}

// randomLocked returns a random part of d.
func (n *Network) randomLocked(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(n.draw.Int64N(int64(d)))
}

// noticedLocked is when silence that begins now is noticed.
func (n *Network) noticedLocked() time.Duration {
	return n.cfg.Silence + n.randomLocked(n.cfg.Silence/4)
}

// Kill ends rank r at once: nothing of it reaches others any more, its connections break,
// and then its end is announced.
func (n *Network) Kill(r base.Rank) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.killLocked(r, errors.New("killed by signal 9"))
}

func (n *Network) killLocked(r base.Rank, reason error) {
	if n.dead[r] {
		return
	}
	n.dead[r] = true
	if t := n.ranks[r]; t != nil {
		t.endLocked()
	}
	for peer := range base.Rank(len(n.ranks)) {
		if n.joined[pair(r, peer)] {
			time.AfterFunc(n.randomLocked(n.cfg.Latency), func() { n.lose(peer, r, closed) })
		}
	}
	time.AfterFunc(n.randomLocked(n.cfg.Verdict), func() { n.announce(r, reason, n.launcher.Kill) })
}

// announce tells all ranks of an end by a function of the launcher.
func (n *Network) announce(r base.Rank, reason error, tell func(base.Rank, error)) {
	n.mu.Lock()
	if n.announced[r].IsZero() {
		n.announced[r] = time.Now()
	}
	n.mu.Unlock()
	tell(r, reason)
}

// Stop suspends rank r, which goes on to own its memory and connections. Its launcher kills it
// when it has been silent for too long.
func (n *Network) Stop(r base.Rank) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped[r] = true
	time.AfterFunc(n.noticedLocked(), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.killLocked(r, fmt.Errorf("silent for %v", n.cfg.Silence))
	})
}

// Cut loses all that host from sends to host to, from now on.
func (n *Network) Cut(from, to int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutLocked(from, to)
}

func (n *Network) cutLocked(from, to int) {
	n.cuts[[2]int{from, to}] = true
	reason := fmt.Sprintf("no answer from its host for %v", n.cfg.Silence)
	for a := range base.Rank(len(n.ranks)) {
		for b := range base.Rank(len(n.ranks)) {
			if n.cfg.Hosts[a] == from && n.cfg.Hosts[b] == to && n.joined[pair(a, b)] {
				time.AfterFunc(n.noticedLocked(), func() { n.lose(a, b, reason) })
				time.AfterFunc(n.noticedLocked(), func() { n.lose(b, a, reason) })
			}
		}
	}
}

// CutLauncher loses all between a host and the launcher: its ranks lose the launcher, and
// that takes them for dead.
func (n *Network) CutLauncher(host int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cutLauncherLocked(host)
}

func (n *Network) cutLauncherLocked(host int) {
	reason := fmt.Errorf("no answer from its host for %v", n.cfg.Silence)
	missed := n.noticedLocked()
	for r := range base.Rank(len(n.ranks)) {
		if n.cfg.Hosts[r] != host {
			continue
		}
		n.launcher.Mute(r)
		time.AfterFunc(missed, func() { n.announce(r, reason, n.launcher.Announce) })
		time.AfterFunc(n.noticedLocked(), func() {
			n.mu.Lock()
			n.orphaned[r] = time.Now()
			n.mu.Unlock()
			n.launcher.Orphan(r)
		})
	}
}

// CutHost takes a host off the network.
func (n *Network) CutHost(host int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, other := range n.cfg.Hosts {
		if other != host && !n.cuts[[2]int{host, other}] {
			n.cutLocked(host, other)
			n.cuts[[2]int{other, host}] = true
		}
	}
	n.cutLauncherLocked(host)
}

// pair is what two ranks are found under.
func pair(a, b base.Rank) [2]base.Rank { return [2]base.Rank{min(a, b), max(a, b)} }

// lose makes the end of rank r of its connection with a peer break.
func (n *Network) lose(r, peer base.Rank, reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.ranks[r]
	l := t.links[peer]
	if l.lost != nil || t.closed {
		return
	}
	err := &base.RankError{Rank: peer, Reason: reason}
	n.broken[[2]base.Rank{r, peer}] = time.Now()
	l.loseLocked(err)
	if t.lost != nil {
		t.lost(err)
	}
}

// hearsLocked reports whether what rank from sends reaches rank to.
func (n *Network) hearsLocked(from, to base.Rank) bool {
	return !n.cuts[[2]int{n.cfg.Hosts[from], n.cfg.Hosts[to]}] && !n.stopped[to] && !n.dead[to]
}

// A flow is what one rank sends to another on a lane, in order.
type flow struct {
	last time.Time // when the last of them arrives
	legs []func()  // what happens then; called with the lock held
}

type flowKey struct {
	from, to base.Rank
	lane     uint32
}

// sendLocked makes do happen at rank to, unless it is not reached.
func (n *Network) sendLocked(from, to base.Rank, lane uint32, do func()) {
	if n.stopped[from] || !n.hearsLocked(from, to) {
		return // sent again and again until the connection is lost
	}
	key := flowKey{from, to, lane}
	f := n.flows[key]
	if f == nil {
		f = new(flow)
		n.flows[key] = f
	}
	now := time.Now()
	at := now.Add(n.randomLocked(n.cfg.Latency))
	if at.Before(f.last) {
		at = f.last
	}
	f.last = at
	f.legs = append(f.legs, do)
	time.AfterFunc(at.Sub(now), func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		do := f.legs[0] // timers of one instant run in any order
		f.legs = f.legs[1:]
		if n.hearsLocked(from, to) {
			do()
		}
	})
}

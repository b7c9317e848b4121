package rdma

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
)

// A memoryNet is a network in memory that keeps its promises, and nothing else: what
// is on its way moves when the receiver polls, in an order that is random where none
// is promised, and is refused at random where it may be.
type memoryNet struct {
	promises traits
	again    float64 // how often there is no room
	based    bool    // first bytes have other addresses than 0

	mu    sync.Mutex
	rng   *rand.Rand
	nodes []*memoryFabric
	key   uint64
	late  []string // what came, or was to come, to an endpoint that closes, which may be fatal
	lies  bool     // somebody forges messages, so that things may come late
	deaf  bool     // waitFile can be read all the time
	held  bool     // writes stay on their way, and messages overtake them
}

// newMemoryNet makes a network that promises what change leaves of a good one.
func newMemoryNet(t testing.TB, change func(n *memoryNet)) *memoryNet {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	n := &memoryNet{
		promises: traits{
			provider: "memory", inject: 64, transfer: 1 << 30, inFlight: 256,
			orderedWrites: 1 << 30, sendAfterWrite: true, dataBits: 64,
		},
		rng: rand.New(rand.NewPCG(seed, 1)),
	}
	if change != nil {
		change(n)
	}
	t.Cleanup(func() { // after the ranks have closed
		for _, what := range n.late {
			if !n.lies {
				t.Error(what)
			}
		}
	})
	return n
}

// A memoryFabric is one end.
type memoryFabric struct {
	net     *memoryNet
	number  int
	regions map[uint64]*memoryRegion
	coming  []*parcel
	told    []completion
	busy    map[uint32]bool // tokens
	dead    bool            // it does nothing any more, and who sends to it hears so
	closed  bool            // by its owner
	full    int             // so often there is no room

	bell, ring *os.File // what waitFile returns, and its other end
	armed      bool     // ring at the next parcel
	rung       bool
	polls      int // calls of poll
}

// A parcel is something on its way.
type parcel struct {
	from *memoryFabric
	x    transfer
	kind eventKind // eventDone for transfers, eventMessage
	read bool
	quit bool // nobody waits for its end
	m    [messageSize]byte
}

func (n *memoryNet) open() *memoryFabric {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := &memoryFabric{net: n, number: len(n.nodes), regions: make(map[uint64]*memoryRegion), busy: make(map[uint32]bool)}
	var err error
	if f.bell, f.ring, err = os.Pipe(); err != nil {
		panic(err)
	}
	if n.deaf {
		_, _ = f.ring.Write([]byte{1})
	}
	n.nodes = append(n.nodes, f)
	return f
}

func (f *memoryFabric) traits() traits { return f.net.promises }
func (f *memoryFabric) name() []byte   { return binary.LittleEndian.AppendUint32(nil, uint32(f.number)) }
func (f *memoryFabric) waitFile() int  { return int(f.bell.Fd()) }

func (f *memoryFabric) arm() bool {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.armed = len(f.told) == 0 && len(f.coming) == 0
	return f.armed
}

// wakeLocked rings the bell of a node that sleeps.
func (f *memoryFabric) wakeLocked() {
	if f.armed {
		f.armed, f.rung = false, true
		_, _ = f.ring.Write([]byte{1})
	}
}

func (f *memoryFabric) insert(name []byte) (uint64, error) {
	if len(name) != 4 {
		return 0, fmt.Errorf("%x is no name", name)
	}
	return uint64(binary.LittleEndian.Uint32(name)), nil
}

func (f *memoryFabric) register(mem []byte) (*memoryRegion, error) {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	n.key += 1 + n.rng.Uint64N(1<<20)
	r := &memoryRegion{mem: mem, key: n.key, handle: f}
	if n.based {
		r.base = n.rng.Uint64() >> 16
	}
	f.regions[r.key] = r
	return r, nil
}

func (f *memoryFabric) unregister(r *memoryRegion) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.regions[r.key] != r || r.handle != f {
		panic("a region that is not registered")
	}
	delete(f.regions, r.key)
}

func (f *memoryFabric) write(x *transfer) error  { return f.post(x, false, false) }
func (f *memoryFabric) read(x *transfer) error   { return f.post(x, true, false) }
func (f *memoryFabric) inject(x *transfer) error { return f.post(x, false, true) }

var errNobody = errors.New("nobody is there")

// post takes what may go out, if it keeps the rules of fabric.
func (f *memoryFabric) post(x *transfer, read, inject bool) error {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.promises
	switch {
	case inject && len(x.local) > p.inject, uint64(len(x.local)) > p.transfer:
		panic(fmt.Sprintf("%d bytes are too many", len(x.local)))
	case x.withData && p.dataBits == 0, x.withData && p.dataBits < 64 && x.data>>p.dataBits != 0:
		panic(fmt.Sprintf("data %#x has more than %d bits", x.data, p.dataBits))
	case p.localKeys && !inject && len(x.local) > 0 && (x.region == nil || f.regions[x.region.key] != x.region):
		panic("memory that is not registered")
	case !inject && f.busy[x.token]:
		panic("a token that is in use")
	case f.dead || n.nodes[x.peer].dead:
		if n.nodes[x.peer].closed && !f.dead {
			n.nodes[x.peer].lateLocked(f, eventDone)
		}
		return errNobody
	case f.isFullLocked(), !inject && len(f.busy) >= p.inFlight:
		return errAgain
	}
	q := &parcel{from: f, x: *x, kind: eventDone, read: read, quit: inject}
	if !read && (inject || !x.confirmed) {
		q.x.local = append([]byte(nil), x.local...)
		if q.quit = true; !inject {
			f.told = append(f.told, completion{kind: eventDone, token: x.token})
			f.wakeLocked()
		}
	}
	if !inject {
		f.busy[x.token] = true
	}
	n.nodes[x.peer].coming = append(n.nodes[x.peer].coming, q)
	n.nodes[x.peer].wakeLocked()
	return nil
}

// isFullLocked reports whether there is no room now.
func (f *memoryFabric) isFullLocked() bool {
	if f.full > 0 {
		f.full--
		return true
	}
	return f.net.rng.Float64() < f.net.again
}

// hold keeps writes on their way, or lets them go.
func (n *memoryNet) hold(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = on
}

// fill makes the next n operations find no room.
func (f *memoryFabric) fill(n int) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.full = n
}

func (f *memoryFabric) send(peer uint64, m *[messageSize]byte) error {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case f.dead || n.nodes[peer].dead:
		if n.nodes[peer].closed && !f.dead {
			n.nodes[peer].lateLocked(f, eventMessage)
		}
		return errNobody
	case f.isFullLocked():
		return errAgain
	}
	n.nodes[peer].coming = append(n.nodes[peer].coming, &parcel{from: f, kind: eventMessage, m: *m})
	n.nodes[peer].wakeLocked()
	return nil
}

func (f *memoryFabric) poll(events []completion) int {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	f.polls++
	if f.rung {
		f.rung = false
		_, _ = f.bell.Read(make([]byte, 1))
	}
	for range 8 {
		if f.dead || len(f.coming) == 0 || len(f.told) >= 2*len(events) {
			break
		}
		at := f.pick()
		if at < 0 {
			break
		}
		p := f.coming[at]
		f.coming = append(f.coming[:at:at], f.coming[at+1:]...)
		f.arrive(p)
	}
	k := copy(events, f.told)
	f.told = f.told[k:]
	for _, e := range events[:k] {
		if e.kind == eventDone || e.kind == eventFailed {
			delete(f.busy, e.token)
		}
	}
	return k
}

// pick is which parcel arrives next: messages stay in order, and so do writes if that
// is promised, and both together if that is. -1 is none.
func (f *memoryFabric) pick() int {
	if f.net.held {
		return slices.IndexFunc(f.coming, func(p *parcel) bool { return p.kind == eventMessage })
	}
	p := f.net.promises
	for range 8 {
		at := f.net.rng.IntN(len(f.coming))
		c := f.coming[at]
		ok := true
		for _, before := range f.coming[:at] {
			if before.from != c.from {
				continue
			}
			bothMessages := before.kind == eventMessage && c.kind == eventMessage
			bothWrites := before.kind == eventDone && c.kind == eventDone && !before.read && !c.read
			behindWrite := before.kind == eventDone && c.kind == eventMessage
			ok = ok && !bothMessages &&
				!(bothWrites && uint64(len(before.x.local)) <= p.orderedWrites) && !(behindWrite && p.sendAfterWrite)
		}
		if ok {
			return at
		}
	}
	return 0
}

func (f *memoryFabric) arrive(p *parcel) {
	if p.kind == eventMessage {
		f.told = append(f.told, completion{kind: eventMessage, message: p.m})
		return
	}
	e := completion{kind: eventDone, token: p.x.token}
	r := f.regions[p.x.key]
	at := p.x.remote
	if r != nil {
		at -= r.base
	}
	switch {
	case r == nil || at > uint64(len(r.mem)) || uint64(len(p.x.local)) > uint64(len(r.mem))-at:
		e.kind, e.err = eventFailed, fmt.Errorf("no memory with key %d at %d", p.x.key, p.x.remote)
	case p.read:
		copy(p.x.local, r.mem[at:])
	default:
		copy(r.mem[at:], p.x.local)
		if p.x.withData {
			f.told = append(f.told, completion{kind: eventData, data: p.x.data})
		}
	}
	if !p.quit {
		p.from.told = append(p.from.told, e)
	} else if e.err != nil {
		p.from.told = append(p.from.told, completion{kind: eventFailed, token: noToken, err: e.err})
	}
	p.from.wakeLocked()
}

// lateLocked takes note of what an endpoint sends to one that closes.
func (f *memoryFabric) lateLocked(from *memoryFabric, kind eventKind) {
	what := "a transfer"
	if kind == eventMessage {
		what = "a message"
	}
	f.net.late = append(f.net.late, fmt.Sprintf("endpoint %d closes while %s of endpoint %d comes", f.number, what, from.number))
}

// kill makes the node silent: what is on its way to it fails.
func (f *memoryFabric) kill() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	f.dead = true
	for _, p := range f.coming {
		if p.kind == eventDone && !p.quit {
			p.from.told = append(p.from.told, completion{kind: eventFailed, token: p.x.token, err: errNobody})
			p.from.wakeLocked()
		}
	}
	f.coming = nil
}

func (f *memoryFabric) close() {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	for _, p := range f.coming {
		f.lateLocked(p.from, p.kind)
	}
	f.dead, f.closed = true, true
	f.bell.Close()
	f.ring.Close()
}

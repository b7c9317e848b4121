package rdma

import "errors"

// A fabric is one endpoint of a network that moves bytes between registered memory
// and carries short messages: the part of libfabric that this package uses. Its methods are
// called by one goroutine at a time, but for waitFile. None blocks.
//
// Where a method returns errAgain it had no effect, and may succeed after the next
// poll. Any other error of write, inject, read or send means that the peer cannot be
// reached any more.
type fabric interface {
	traits() traits
	// name returns the name of this endpoint, for insert of peers.
	name() []byte
	insert(name []byte) (peer uint64, err error)

	// register lets peers reach mem, and transfers use it here. mem stays in place
	// until unregister.
	register(mem []byte) (*memoryRegion, error)
	unregister(r *memoryRegion)

	// write begins to copy x.local to the peer, read the other way round. Each gives
	// one event with x.token in the end; x itself is not kept.
	write(x *transfer) error
	read(x *transfer) error
	// inject is write of at most traits.inject bytes that may be changed at once. It
	// needs no region and gives no event.
	inject(x *transfer) error
	// send sends a message. m is not kept.
	send(peer uint64, m *[messageSize]byte) error

	// poll makes progress and returns how many events it has filled in.
	poll(events []completion) int
	// waitFile is a descriptor that can be read when poll has something to do, if arm
	// has returned true since the last poll; -1 if there is none.
	waitFile() int
	arm() bool
	close()
}

// errAgain means that there is no room now.
var errAgain = errors.New("no room now")

// traits are the promises and the limits of a fabric.
type traits struct {
	provider string // such as "verbs;ofi_rxm"
	device   string
	version  string // of the library

	inject   int    // bytes; most of an inject
	transfer uint64 // bytes; most of a write or read
	inFlight int    // writes and reads at a time

	// Writes of at most orderedWrites bytes reach the memory in the order in which
	// they were issued; 0 if there is no such order.
	orderedWrites uint64
	// A message comes after the writes before it.
	sendAfterWrite bool
	// So many bits of a write arrive at the peer as an event; 0 if none do.
	dataBits int
	// The memory of transfers must be registered here too.
	localKeys bool
}

// A memoryRegion is registered memory.
type memoryRegion struct {
	mem  []byte
	key  uint64 // remote key
	base uint64 // remote address of the first byte

	handle  any // the fabric's own
	users   int // transfers that use it here
	dropped bool
}

// A transfer is one call of write, inject or read.
type transfer struct {
	peer   uint64
	local  []byte
	region *memoryRegion // that local lies in; nil if traits.localKeys is false, and for inject
	remote uint64        // place in the peer's memory: region.base plus an offset
	key    uint64
	data   uint64 // arrives as an event behind the bytes, if withData is set
	token  uint32

	withData  bool
	confirmed bool // the event waits until the bytes are in the peer's memory
}

type eventKind uint8

const (
	eventDone    eventKind = iota + 1 // the transfer with that token has ended
	eventFailed                       // it has failed; token is noToken if it is not known which
	eventMessage                      // a message has arrived
	eventData                         // a write with data has arrived
	eventBroken                       // the endpoint is of no use any more
)

// noToken is the token of no transfer.
const noToken = ^uint32(0)

// A completion is something that poll has noticed.
type completion struct {
	kind    eventKind
	token   uint32
	data    uint64
	err     error
	message [messageSize]byte
}

// A trackedFabric is a fabric that records whether its descriptor can be relied on. Every
// call that changes that goes through it. It is guarded by Transport.mu.
//
// The descriptor becomes readable for events after arm has returned true. It does not for
// events that another call has taken from the fabric since, nor for room after the fabric
// has refused an operation. After each of these the descriptor is not reliable until arm
// has returned true again. Transport.unlock, which all holders of mu call, wakes the thread
// if it sleeps on a descriptor that is not reliable.
//
// All other reasons for a backlog end under mu, and are followed by a retry before mu is
// given back: transfers in flight and confirmations end with an event (workLocked), the
// lookup of an address with lookUp.
type trackedFabric struct {
	fabric
	reliable bool // the descriptor is reliable
	refused  bool // an operation was refused since the last poll; only another try shows whether there is room
}

func (g *trackedFabric) poll(events []completion) int {
	g.reliable, g.refused = false, false
	return g.fabric.poll(events)
}

func (g *trackedFabric) arm() bool {
	g.reliable = !g.refused && g.fabric.arm()
	return g.reliable
}

func (g *trackedFabric) write(x *transfer) error  { return g.note(g.fabric.write(x)) }
func (g *trackedFabric) read(x *transfer) error   { return g.note(g.fabric.read(x)) }
func (g *trackedFabric) inject(x *transfer) error { return g.note(g.fabric.inject(x)) }

func (g *trackedFabric) send(peer uint64, m *[messageSize]byte) error {
	return g.note(g.fabric.send(peer, m))
}

func (g *trackedFabric) note(err error) error {
	if err == errAgain {
		g.reliable, g.refused = false, true
	}
	return err
}

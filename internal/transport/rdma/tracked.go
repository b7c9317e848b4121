package rdma

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

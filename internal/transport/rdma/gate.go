package rdma

// A gate is a fabric as seen by the thread that sleeps on its descriptor. Every call
// that changes what that tells goes through here, so that there is one place that
// knows whether it may be relied on. It is guarded by Transport.mu.
//
// The descriptor tells of what happens after arm has returned true. It does not tell
// of what somebody has taken from the fabric since, nor of room for what the fabric
// has refused. So after each of these the gate is blind until arm has returned true
// again, and Transport.unlock, which all who hold mu go through, wakes the thread if
// it sleeps on a blind gate.
//
// Whatever else keeps an operation in a backlog ends under mu, and is followed by a
// retry before mu is given back: transfers in flight, and confirmations, by an event
// (workLocked), meeting a peer by who has found it out (find).
type gate struct {
	fabric
	tells   bool // the descriptor does
	refused bool // something, since the last poll; only another try shows whether there is room
}

func (g *gate) poll(events []event) int {
	g.tells, g.refused = false, false
	return g.fabric.poll(events)
}

func (g *gate) arm() bool {
	g.tells = !g.refused && g.fabric.arm()
	return g.tells
}

func (g *gate) write(x *transfer) error  { return g.note(g.fabric.write(x)) }
func (g *gate) read(x *transfer) error   { return g.note(g.fabric.read(x)) }
func (g *gate) inject(x *transfer) error { return g.note(g.fabric.inject(x)) }

func (g *gate) send(peer uint64, m *[messageSize]byte) error { return g.note(g.fabric.send(peer, m)) }

func (g *gate) note(err error) error {
	if err == errAgain {
		g.tells, g.refused = false, true
	}
	return err
}

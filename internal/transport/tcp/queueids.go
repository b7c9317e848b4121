package tcp

import "github.com/gaspi-go/gaspi-go/internal/transport"

// queueIDsMost is the number of queues of a connection that a refusal can be reported
// to: those used last. A rank has a few.
const queueIDsMost = 64

// queueIDs number the queues whose puts a connection carries. A refusal from the peer
// contains the number of the queue whose put it refused. Numbers only grow and so never
// come to mean another queue.
type queueIDs struct {
	all  []queueID // index is the number modulo queueIDsMost
	next uint32
	last int // index of the one used last
}

type queueID struct {
	queue   *transport.Queue
	number  uint32
	refused error // not yet reported by a Flush
	get     bool  // the peer has refused a get, too, which the queue may have told of
}

// of returns the number of q.
func (t *queueIDs) of(q *transport.Queue) uint32 {
	if t.last < len(t.all) && t.all[t.last].queue == q {
		return t.all[t.last].number
	}
	return t.find(q)
}

func (t *queueIDs) find(q *transport.Queue) uint32 {
	for i := range t.all {
		if t.all[i].queue == q {
			t.last = i
			return t.all[i].number
		}
	}
	t.last = int(t.next % queueIDsMost)
	if t.last == len(t.all) {
		t.all = append(t.all, queueID{})
	}
	t.all[t.last] = queueID{queue: q, number: t.next}
	t.next++
	return t.next - 1
}

// get returns the entry with that number, or nil if another has replaced it.
func (t *queueIDs) get(n uint32) *queueID {
	if i := int(n % queueIDsMost); i < len(t.all) && t.all[i].number == n {
		return &t.all[i]
	}
	return nil
}

// takeRefusal returns the last refusal of a put of q since the previous call, or nil.
func (t *queueIDs) takeRefusal(q *transport.Queue) error {
	for i := range t.all {
		if g := &t.all[i]; g.queue == q {
			err := g.refused
			g.refused = nil
			return err
		}
	}
	return nil
}

// refuseGet records that the peer has refused a get of q, which fails behind that.
func (t *queueIDs) refuseGet(q *transport.Queue) {
	t.of(q)
	t.all[t.last].get = true
}

// hasRefusedGet reports whether the peer has refused a get of q since the queue has last told of a failure.
func (t *queueIDs) hasRefusedGet(q *transport.Queue) bool {
	for i := range t.all {
		if g := &t.all[i]; g.queue == q {
			g.get = g.get && q.HasFailed()
			return g.get
		}
	}
	return false
}

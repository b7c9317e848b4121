package tcp

import "github.com/gaspi-go/gaspi-go/internal/transport"

// tagsMost is how many queues of a connection a refusal can come back to: those
// used last. A rank has a few.
const tagsMost = 64

// tags number the queues whose puts a connection carries, so that the peer can
// say later which queue's put it refused. Numbers are running and so never come
// to mean another queue.
type tags struct {
	all  []tag // index is the number modulo tagsMost
	next uint32
	last int // index of the one used last
}

type tag struct {
	queue   *transport.Queue
	number  uint32
	refused error // not yet reported by a Flush
}

// of is the number of q.
func (t *tags) of(q *transport.Queue) uint32 {
	if t.last < len(t.all) && t.all[t.last].queue == q {
		return t.all[t.last].number
	}
	return t.find(q)
}

func (t *tags) find(q *transport.Queue) uint32 {
	for i := range t.all {
		if t.all[i].queue == q {
			t.last = i
			return t.all[i].number
		}
	}
	t.last = int(t.next % tagsMost)
	if t.last == len(t.all) {
		t.all = append(t.all, tag{})
	}
	t.all[t.last] = tag{queue: q, number: t.next}
	t.next++
	return t.next - 1
}

// numbered is the tag with that number, or nil if it is forgotten.
func (t *tags) numbered(n uint32) *tag {
	if i := int(n % tagsMost); i < len(t.all) && t.all[i].number == n {
		return &t.all[i]
	}
	return nil
}

// taken is what was refused of q's puts since the last call.
func (t *tags) taken(q *transport.Queue) error {
	for i := range t.all {
		if g := &t.all[i]; g.queue == q {
			err := g.refused
			g.refused = nil
			return err
		}
	}
	return nil
}

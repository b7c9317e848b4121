package boot

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// maxOpen bounds how many exchanges of a job can be under way.
const maxOpen = 4096

// A hub is the middle of a job: it collects the values of exchanges and
// remembers which ranks are gone. Local and Server are two ways to reach one.
// It does no I/O and starts nothing.
type hub struct {
	size int

	mu    sync.Mutex
	open  map[string]*gathering // exchanges that lack a value
	board board                 // values that ranks have put
	ahead map[string]*fence     // fences that lack a rank
	sinks []sink                // index is the rank; nil while it is not attached
	gone  []*Failure            // index is the rank; nil while it is there
	order []base.Rank           // the ranks that are gone, in the order they went
}

// A sink takes what the hub has to say to one rank. It is called with the lock
// of the hub held, in the order in which things happened, so it must neither
// block nor call the hub.
type sink interface {
	values(*gathering)
	tell(message)
}

// A gathering is one exchange. Its values are read-only once it is complete.
type gathering struct {
	name    string
	values  [][]byte // index is the rank
	given   []bool   // index is the rank
	missing int

	encoded [][]byte // what the wire carries; built once for all ranks, on demand
}

func newHub(size int) *hub {
	return &hub{
		size:  size,
		open:  map[string]*gathering{},
		board: newBoard(size),
		ahead: map[string]*fence{},
		sinks: make([]sink, size),
		gone:  make([]*Failure, size),
	}
}

// attach makes s the sink of rank r, and tells it about the ranks already gone.
func (h *hub) attach(r base.Rank, s sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sinks[r] = s
	for _, other := range h.order {
		if other != r {
			s.tell(h.gone[other].message())
		}
	}
}

// detach makes rank r hear no more.
func (h *hub) detach(r base.Rank) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sinks[r] = nil
}

// give adds the value of rank r to an exchange, and keeps value. An exchange is
// forgotten as soon as it is complete or has failed: a rank that gives to it
// later begins another one, which fails at once if it cannot complete.
func (h *hub) give(r base.Rank, name string, value []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.open[name]
	if g == nil && len(h.open) == maxOpen {
		return fmt.Errorf("exchange %q: %d others are under way, which is the limit", name, maxOpen)
	}
	if g == nil {
		g = &gathering{name: name, values: make([][]byte, h.size), given: make([]bool, h.size), missing: h.size}
		h.open[name] = g
	}
	if g.given[r] {
		return fmt.Errorf("rank %d gave a second value to exchange %q before the first was answered", r, name)
	}
	g.values[r], g.given[r] = value, true
	g.missing--
	h.settleLocked(g)
	return nil
}

// leave records that a rank is gone, tells everybody else, and fails the
// exchanges that will never have its value. Only the first call for a rank counts,
// and it returns true.
func (h *hub) leave(f Failure) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone[f.Rank] != nil {
		return false
	}
	h.gone[f.Rank] = &f
	h.order = append(h.order, f.Rank)
	for r, s := range h.sinks {
		if s != nil && base.Rank(r) != f.Rank {
			s.tell(f.message())
		}
	}
	for _, g := range h.open {
		h.settleLocked(g)
	}
	for _, e := range h.ahead {
		h.settleFenceLocked(e)
	}
	h.disappointLocked(f)
	return true
}

// message is what a rank is told about the failure of another.
func (f Failure) message() message {
	return message{Kind: kindGone, Rank: f.Rank, Left: f.Left, Reason: f.Reason}
}

// tellLocked says m to rank r if it is attached.
func (h *hub) tellLocked(r base.Rank, m message) {
	if s := h.sinks[r]; s != nil {
		s.tell(m)
	}
}

// isGone reports whether rank r has left.
func (h *hub) isGone(r base.Rank) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gone[r] != nil
}

// settleLocked ends an exchange that is complete, or that never will be.
func (h *hub) settleLocked(g *gathering) {
	if g.missing == 0 {
		delete(h.open, g.name)
		for _, s := range h.sinks {
			if s != nil {
				s.values(g)
			}
		}
		return
	}
	for _, dead := range h.order {
		if g.given[dead] {
			continue
		}
		delete(h.open, g.name)
		for r, s := range h.sinks {
			if s != nil && g.given[r] {
				s.tell(message{Kind: kindFailed, Name: g.name, Rank: dead, Reason: h.gone[dead].Reason})
			}
		}
		return
	}
}

// cloneValues copies values so that each rank owns what it gets.
func cloneValues(values [][]byte) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = bytes.Clone(v)
		if out[i] == nil {
			out[i] = []byte{}
		}
	}
	return out
}

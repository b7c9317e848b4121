package boot

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A hub is the middle of a job: it keeps the values that ranks put, knows who
// has come to which fence, and remembers which ranks are gone. Local and Server
// are two ways to reach one. It does no I/O and starts nothing.
type hub struct {
	size int

	mu    sync.Mutex
	board board             // values that ranks have put
	ahead map[string]*fence // fences that lack a rank
	sinks []sink            // index is the rank; nil while it is not attached
	gone  []*Failure        // index is the rank; nil while it is there
	order []base.Rank       // the ranks that are gone, in the order they went
}

// A sink takes what the hub has to say to one rank. It is called with the lock
// of the hub held, in the order in which things happened, so it must neither
// block nor call the hub.
type sink interface {
	tell(message)
}

func newHub(size int) *hub {
	return &hub{
		size:  size,
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

// take notes what rank r says, and keeps what m refers to.
func (h *hub) take(r base.Rank, m message) error {
	switch m.Kind {
	case kindPut:
		return h.put(r, m.Name, m.Value)
	case kindGet:
		return h.get(r, m.Rank, m.Name)
	case kindFence:
		return h.come(r, m.Name, m.Word, m.Part)
	}
	return fmt.Errorf("unexpected %s message", m.Kind)
}

// detach makes rank r hear no more.
func (h *hub) detach(r base.Rank) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sinks[r] = nil
}

// leave records that a rank is gone, tells everybody else, rank 0 last, and fails what will
// never have what it needs of it. Only the first call for a rank counts,
// and it returns true.
func (h *hub) leave(f Failure) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone[f.Rank] != nil {
		return false
	}
	h.gone[f.Rank] = &f
	h.order = append(h.order, f.Rank)
	for r, s := range slices.Backward(h.sinks) {
		if s != nil && base.Rank(r) != f.Rank {
			s.tell(f.message())
		}
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

// failure returns how rank r has left, or nil while it is there.
func (h *hub) failure(r base.Rank) *Failure {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gone[r]
}

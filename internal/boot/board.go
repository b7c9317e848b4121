package boot

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// maxPuts bounds how many values one rank can put.
const maxPuts = 4096

// A board holds the values that ranks have put, and who waits for others. It is
// part of the hub and guarded by its lock.
type board struct {
	values map[valueKey][]byte
	wanted map[valueKey][]base.Rank // ranks that wait for what is not there yet
	puts   []int                    // index is the rank: how many values it has put
}

// A valueKey is where a value hangs: whose it is, and its name.
type valueKey struct {
	rank base.Rank
	name string
}

func newBoard(size int) board {
	return board{values: map[valueKey][]byte{}, wanted: map[valueKey][]base.Rank{}, puts: make([]int, size)}
}

// put hangs up a value of rank r, which it keeps, and tells those who wait for
// it.
func (h *hub) put(r base.Rank, name string, value []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, b := valueKey{r, name}, &h.board
	if _, there := b.values[at]; there {
		return fmt.Errorf("rank %d put a second value %q", r, name)
	}
	if b.puts[r] == maxPuts {
		return fmt.Errorf("rank %d put more than %d values", r, maxPuts)
	}
	b.puts[r]++
	b.values[at] = value
	for _, asker := range b.wanted[at] {
		h.tellLocked(asker, message{Kind: kindValue, Rank: r, Name: name, Value: value})
	}
	delete(b.wanted, at)
	return nil
}

// get tells asker the value of rank r, as soon as it is there.
func (h *hub) get(asker, r base.Rank, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if int(r) >= h.size {
		return fmt.Errorf("rank %d asks for a value of rank %d of a job of %d", asker, r, h.size)
	}
	at, b := valueKey{r, name}, &h.board
	value, there := b.values[at]
	switch {
	case there:
		h.tellLocked(asker, message{Kind: kindValue, Rank: r, Name: name, Value: value})
	case h.gone[r] != nil:
		h.tellLocked(asker, message{Kind: kindNever, Rank: r, Name: name, Reason: h.gone[r].Reason})
	case len(b.wanted) == maxPuts*h.size || len(b.wanted[at]) == h.size:
		return fmt.Errorf("rank %d asks for more than ranks can put", asker)
	default:
		b.wanted[at] = append(b.wanted[at], asker)
	}
	return nil
}

// disappointLocked tells those who wait for values of a rank that it will not put any.
func (h *hub) disappointLocked(f Failure) {
	for at, askers := range h.board.wanted {
		if at.rank != f.Rank {
			continue
		}
		for _, asker := range askers {
			h.tellLocked(asker, message{Kind: kindNever, Rank: f.Rank, Name: at.name, Reason: f.Reason})
		}
		delete(h.board.wanted, at)
	}
}

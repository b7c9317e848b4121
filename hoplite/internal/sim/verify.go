package sim

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// stuck says if a call waits although nothing will happen any more. A Get, a Wait or a
// Locate may wait for an object that does not exist; a Reduce, for sources that do not.
func (x *explorer) stuck(w *world) {
	for _, c := range sortedKeys(x.calls) {
		p := x.calls[c]
		if w.err != nil || w.dead[p.op.Rank] || p.op.End != 0 {
			continue
		}
		if !x.mayWait(w, c, p) {
			w.failf("call %d of rank %d (%s) waits for ever: it began in step %d", c, p.op.Rank, p.op, p.op.Begin)
		}
	}
}

// mayWait reports whether what a call waits for is not there.
func (x *explorer) mayWait(w *world, c core.CallID, p *pending) bool {
	switch p.op.Verb {
	case Get:
		there, lost := core.Known(w.cores, w.dead, p.op.ID)
		return !there && !lost
	case Wait, Locate:
		return true
	case Reduce:
		from := x.oracle.made[p.op.ID][p.at]
		ready, possible := 0, len(from.sources)
		for _, id := range from.sources {
			there, lost := core.Known(w.cores, w.dead, id)
			if there {
				ready++
			}
			// A reduction that has chosen a copy does not hear that another object of that
			// name was lost.
			if lost && !core.Chosen(w.cores, w.dead, p.op.Rank, c, id) {
				possible--
			}
		}
		return ready < from.count && possible >= from.count
	}
	return false
}

// verify reads all complete copies once more.
func (x *explorer) verify(w *world) {
	for r, c := range w.cores {
		if w.dead[r] {
			continue
		}
		c.Copies(func(id string, off, size int64) {
			if w.err != nil {
				return
			}
			if err := x.oracle.check(id, w.memory[r][off:off+size]); err != nil {
				w.failf("at rest, rank %d: %w", r, err)
			}
		})
	}
}

// String is the call in words.
func (o Operation) String() string {
	names := [...]string{"put", "get", "delete", "reduce", "wait", "locate"}
	return fmt.Sprintf("%s %s", names[o.Verb], o.ID)
}

// describe is a message in one line.
func describe(m *core.Message) string { return fmt.Sprintf("%T%+[1]v", m.Unpack()) }

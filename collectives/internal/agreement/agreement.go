package agreement

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An Agreement makes sure that all members mean the same call before the first run of its
// plan, since from then on they trust each other. It is a dissemination of notes, in
// which round k goes to the member 2^k further on. Each message has the sender's
// note and, if it has heard of one, a note that differs. After the last round
// everybody has heard of everybody. Later runs cost nothing: other calls use other
// notifications, and a member that waits in vain finds out by its Mailbox.
type Agreement struct {
	number uint64
	round  int
	sent   bool // of this round
	mine   Note
	other  Note // differs from mine
	differ bool
}

// Begin returns the agreement of that number among those of the team, in which this member
// says mine. Numbers are the same on all members. The agreements from the earliest under way to the
// last one begun are at most Window.
func Begin(number uint64, mine Note) Agreement { return Agreement{number: number, mine: mine} }

// Number returns the number of the agreement.
func (a *Agreement) Number() uint64 { return a.number }

// Advance does what can be done without waiting for a member, and reports whether the agreement
// is over and whether anything was done. It blocks while the queue is full. Its error is that of
// the queue, or the mismatch that a member has found.
func (a *Agreement) Advance(ctx context.Context, m *Mailbox) (done, moved bool, err error) {
	began := a.round
	for a.round < m.lay.rounds {
		if !a.sent {
			if err := a.send(ctx, m); err != nil {
				return false, a.round != began, err
			}
			a.sent = true
		}
		if !a.Arrived(m) {
			return false, a.round != began, nil
		}
		in := m.control.Bytes()[m.lay.in+m.lay.cell(a.number, a.round)*pairSize:]
		for _, b := range [][]byte{in[:noteSize], in[noteSize:pairSize]} {
			if n, ok := noteIn(b); ok && !a.differ && (n.Signature != a.mine.Signature || n.Call != a.mine.Call) {
				a.other, a.differ = n, true
			}
		}
		a.round, a.sent = a.round+1, false
	}
	if a.differ {
		return true, a.round != began, m.Mismatch(a.mine, a.other)
	}
	return true, a.round != began, nil
}

// Astray reports whether a member, as far as is known, is in a call of another number than this one.
func (a *Agreement) Astray() bool { return a.differ && a.other.Call != a.mine.Call }

// Arrived reports whether the message of the round has arrived. The agreement is not over.
func (a *Agreement) Arrived(m *Mailbox) bool {
	cell := m.lay.cell(a.number, a.round)
	return posts.Reached(m.control.Peek(gaspi.NotificationID(cell)), posts.Value(uint32(a.number)+1))
}

// Awaited returns the member whose message the round waits for.
func (a *Agreement) Awaited(m *Mailbox) int {
	size := len(m.ranks)
	return ((m.me-1<<a.round)%size + size) % size
}

func (a *Agreement) send(ctx context.Context, m *Mailbox) error {
	cell := m.lay.cell(a.number, a.round)
	at := m.lay.out + cell*pairSize
	out := m.control.Bytes()[at : at+pairSize]
	a.mine.put(out)
	clear(out[noteSize:])
	if a.differ {
		a.other.put(out[noteSize:])
	}
	src, err := m.control.Span(at, pairSize)
	if err != nil {
		return err
	}
	peer := m.ranks[(m.me+1<<a.round)%len(m.ranks)]
	return m.queue.Unneeded(m.queue.WriteNotify(ctx, m.control.At(peer, m.lay.in+cell*pairSize), src,
		gaspi.Notification{ID: gaspi.NotificationID(cell), Value: posts.Value(uint32(a.number) + 1)}))
}

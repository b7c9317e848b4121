package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Before the first run of a plan the members make sure that they all mean the same
// call, since from then on they trust each other: a dissemination of notes, in
// which round k goes to the member 2^k further on. Each message has the sender's
// note and, if it has heard of one, a note that differs. After the last round
// everybody has heard of everybody. Later runs cost nothing: other calls use other
// notifications, and whoever waits in vain finds out by stall.go.

const (
	// window is how many operations are under way at a time. Further ones begin
	// when earlier ones end.
	window = 16
	// agreementCells is how many agreements have cells of their own. A member that
	// begins the one 32 later has finished the one 16 later, since at most 16 are
	// under way; so all members have begun that, and therefore finished this.
	agreementCells = 2 * window
)

// An agreement is one that is under way.
type agreement struct {
	number uint64
	round  int
	sent   bool // of this round
	mine   note
	other  note // differs from mine
	differ bool
}

// advance does what can be done and reports whether the agreement is over.
func (a *agreement) advance(ctx context.Context, t *Team) (done bool, err error) {
	lay := &t.arena.lay
	for a.round < lay.rounds {
		if !a.sent {
			if err := a.send(ctx, t); err != nil {
				return false, err
			}
			a.sent = true
		}
		cell := lay.cell(a.number, a.round)
		if !a.arrived(t) {
			return false, nil
		}
		in := t.arena.control.Bytes()[lay.in+cell*messageSize:]
		for _, b := range [][]byte{in[:noteSize], in[noteSize:messageSize]} {
			if n, ok := noteIn(b); ok && !a.differ && (n.signature != a.mine.signature || n.call != a.mine.call) {
				a.other, a.differ = n, true
			}
		}
		a.round, a.sent = a.round+1, false
	}
	if a.differ {
		return true, t.differ(a.mine, a.other)
	}
	return true, nil
}

// arrived reports whether the message of the round has arrived.
func (a *agreement) arrived(t *Team) bool {
	cell := t.arena.lay.cell(a.number, a.round)
	return reached(t.arena.control.Peek(gaspi.NotificationID(cell)), valueOf(uint32(a.number)+1))
}

func (a *agreement) send(ctx context.Context, t *Team) error {
	lay := &t.arena.lay
	cell := lay.cell(a.number, a.round)
	at := lay.out + cell*messageSize
	out := t.arena.control.Bytes()[at : at+messageSize]
	a.mine.put(out)
	clear(out[noteSize:])
	if a.differ {
		a.other.put(out[noteSize:])
	}
	src, err := t.arena.control.Span(at, messageSize)
	if err != nil {
		return err
	}
	peer := t.ranks[(t.me+1<<a.round)%len(t.ranks)]
	return t.unneeded(t.post(ctx, func() error {
		return t.queue.WriteNotify(t.arena.control.At(peer, lay.in+cell*messageSize), src,
			gaspi.Notification{ID: gaspi.NotificationID(cell), Value: valueOf(uint32(a.number) + 1)})
	}))
}

// valueOf is what a notification holds after its n-th post. Odd, so that it is
// never 0 when the count wraps around.
func valueOf(n uint32) gaspi.Value { return gaspi.Value(2*n + 1) }

// reached reports whether a notification that holds v has been posted as often as
// one that holds want.
func reached(v, want gaspi.Value) bool { return int32(v-want) >= 0 }

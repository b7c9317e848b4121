package rdma

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A mode is the ordering strategy of puts and notifications on a fabric.
type mode struct {
	coding
	piece uint64 // bytes; most of one write
	// weak means that writes are not ordered: each is confirmed by the peer, and a
	// notification that comes after others waits for that.
	weak   bool
	reason string
}

// orderedLeast is the order of writes below which it is not worth cutting transfers
// into pieces that have it.
const orderedLeast = 64 << 10

// choose returns the cheapest mode that is correct on a fabric with these traits.
func choose(t traits) (mode, error) {
	c := mode{coding: codingFor(t.dataBits), piece: t.transfer}
	if t.transfer == 0 || t.inFlight == 0 {
		return c, fmt.Errorf("%w: provider %s moves no bytes at all", base.ErrNotSupported, t.provider)
	}
	var why string
	switch {
	case !t.sendAfterWrite:
		why = "no order between writes and messages"
	case t.orderedWrites == 0:
		why = "no order between writes"
	case t.orderedWrites < orderedLeast:
		why = fmt.Sprintf("no order between writes above %d bytes", t.orderedWrites)
	}
	c.weak = why != ""
	carrier := "as a message behind it"
	switch {
	case c.valueBits == 32:
		carrier = "with it, as remote completion data"
	case c.valueBits > 0:
		carrier = fmt.Sprintf("with it, as remote completion data of %d bits; larger values as a message behind it", t.dataBits)
	}
	if c.weak {
		c.reason = fmt.Sprintf("a notification travels %s; one that comes after other writes waits until the peer has confirmed them: the provider promises %s", carrier, why)
		return c, nil
	}
	c.piece = min(c.piece, t.orderedWrites)
	c.reason = fmt.Sprintf("a notification travels %s; it stays behind earlier writes, which the provider keeps in order up to %d bytes", carrier, t.orderedWrites)
	return c, nil
}

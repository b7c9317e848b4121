package ssp

import "github.com/gaspi-go/gaspi-go/gaspi"

// This file is the pure core of a link: who may write and who may read which
// slot, as two small state machines without memory, I/O or waiting. The messages
// of one direction of a link are numbered from 1; message seq travels through
// slot seq mod slots.
//
//	sender    sent: the last number written; freed: all up to here may be written over
//	receiver  have: all up to here have arrived; newest: the highest that has arrived
//	          released: all up to here are read for the last time; told: what of that the sender was told
//
//	freed <= told <= released <= have <= newest <= sent <= freed + slots
//
// A receiver reads messages above released only, and a sender writes message seq
// only where seq - slots <= freed. Both talk about one slot and cannot both be true,
// so a message is never written while it is read.

// outbox is the sender's half of a direction.
type outbox struct {
	slots, sent, freed int64
}

// room reports whether the next message has a slot.
func (o *outbox) room() bool { return o.sent-o.freed < o.slots }

// free takes note that all up to seq may be written over, and reports whether
// that can be. Word of it comes by two ways that may overtake each other.
func (o *outbox) free(seq int64) bool {
	if seq > o.sent {
		return false
	}
	o.freed = max(o.freed, seq)
	return true
}

// credited is free with what a notification says. A value that is none of the
// open messages is old news.
func (o *outbox) credited(v gaspi.Value) {
	for seq := o.sent; seq > o.freed; seq-- {
		if valueOf(seq) == v {
			o.freed = seq
			return
		}
	}
}

// valueOf is a message's number as a notification, which must not be 0. It is
// unique among any 2^31 numbers in a row.
func valueOf(seq int64) gaspi.Value { return gaspi.Value(uint32(seq)<<1 | 1) }

// receiveWindow is the receiver's half of a direction.
type receiveWindow struct {
	slots int64
	// exact says that messages are used in order, one per call, and each once.
	// Otherwise the newest is used, as often as it is fresh enough.
	exact bool

	there                        [maxSlots]int64 // index is the slot; number of the message in it
	have, newest, released, told int64
}

// arrive takes note that slot holds message seq, and reports whether that can be.
// Messages may overtake each other.
func (b *receiveWindow) arrive(slot int, seq int64) bool {
	if seq%b.slots != int64(slot) || seq <= b.there[slot] || seq > b.released+b.slots {
		return false
	}
	b.there[slot] = seq
	b.newest = max(b.newest, seq)
	for b.there[(b.have+1)%b.slots] == b.have+1 {
		b.have++
	}
	if !b.exact {
		// A message that is still under way is not released, although a newer one
		// is here: its slot is still being written.
		b.released = min(b.newest-1, b.have)
	}
	return true
}

// current is the slot to read in call clock, and false if there is none yet.
func (b *receiveWindow) current(clock int64) (slot int, ok bool) {
	seq := b.newest
	if b.exact {
		seq = clock
	}
	slot = int(seq % b.slots)
	return slot, seq > 0 && b.there[slot] == seq
}

// used says that call clock has read what it needs. Where the newest message may
// be used again, it stays until a newer one comes.
func (b *receiveWindow) used(clock int64) {
	if b.exact {
		b.released = clock
	}
}

// owesCredit reports whether the sender must be told explicitly what is released.
// As a rule the next message of the other direction carries it. But if this
// sender has, to its knowledge, no slot left, it may hold back something that
// this receiver is going to wait for. In exact mode it always has one: see
// docs/decisions/0002-ssp-slots.md.
func (b *receiveWindow) owesCredit() bool {
	return !b.exact && b.released > b.told && b.newest >= b.told+b.slots
}

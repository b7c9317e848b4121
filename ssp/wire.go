package ssp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

// This file is hot: it allocates nothing unless a rank sleeps or something fails.

// Slots per direction of a link. Neither depends on the slack: where the newest
// message is all that counts, more slots would only hold older ones.
const (
	// slotsExact serves slack 0: one message is read while the next arrives.
	slotsExact = 2
	// slotsNewest serves slack > 0: one message is kept for as long as it is fresh
	// enough, one waits to take its place, and one is on its way.
	slotsNewest = 3

	maxSlots = slotsNewest
)

// wire is what carries messages between this member and those it has links to.
// It knows slots and numbers, and neither elements nor steps.
type wire struct {
	proc   *gaspi.Proc
	own    *gaspi.Group // of the same ranks, for this reduction alone
	ranks  []gaspi.Rank // of the group
	seg    *gaspi.Segment
	queue  *gaspi.Queue // of its own, so that waiting for it waits for nobody else's transfers
	ids    uint32       // notifications in use: of every link one per slot, then one for credits
	links  []neighbour
	lookFn func() bool // bound once, so that waits allocate nothing

	waited  time.Duration // in the present call
	drained bool          // nothing is sent any more
}

// A neighbour is one connection with another member, in both directions.
type neighbour struct {
	peer gaspi.Rank

	// Towards the peer. The source is one message in this rank's segment.
	out      outbox
	source   gaspi.Span
	header   header
	stamp    stamp        // of what the source holds
	slot0    gaspi.Remote // the first slot there
	id0      gaspi.NotificationID
	stride   uint64
	clock    int64 // call in which the source was last offered
	pending  bool  // the source is complete and waits for a slot
	borrowed bool  // the queue may still read the source
	sent     int64 // freshness of what was sent last

	// From the peer.
	in      receiveWindow
	headers [maxSlots]header
	stamps  [maxSlots]stamp
}

// creditID is the notification, at the peer, by which released slots are told.
func (l *neighbour) creditID() gaspi.NotificationID {
	return l.id0 + gaspi.NotificationID(l.out.slots)
}

// usable is the slot whose message may be used in call clock, which needs one of
// freshness need at least.
func (l *neighbour) usable(clock, need int64) (slot int, ok bool) {
	slot, ok = l.in.current(clock)
	return slot, ok && l.stamps[slot].fresh >= need
}

// reuse makes the source of a link writable. A contribution in it that was never sent is
// dropped, so the caller must offer its successor before it waits for anybody: others may
// depend on it.
func (w *wire) reuse(ctx context.Context, l *neighbour) error {
	if l.pending && l.in.exact {
		panic("ssp: a contribution of an exact reduction was not sent")
	}
	if l.borrowed {
		if err := w.settle(ctx); err != nil {
			return err
		}
	}
	l.pending = false
	return nil
}

// settle waits until the queue reads no source any more.
func (w *wire) settle(ctx context.Context) error {
	if err := w.queue.Wait(ctx); err != nil {
		return err
	}
	for i := range w.links {
		w.links[i].borrowed = false
	}
	return nil
}

// offer sends the source of l, which is complete with stamp s, as soon as there
// is a slot for it. It does not wait for one. Offering again in the same call
// goes on with the first offer.
func (w *wire) offer(ctx context.Context, l *neighbour, clock int64, s stamp) error {
	if l.clock != clock {
		l.clock, l.stamp = clock, s
		// Once something final is sent, the peer needs nothing more, and may have
		// stopped making room.
		l.pending = l.in.exact || l.sent != final
	}
	if err := w.send(ctx, l); err != nil || !l.pending {
		return err
	}
	return w.poll(ctx)
}

// send sends what is pending on l if there is a slot for it.
func (w *wire) send(ctx context.Context, l *neighbour) error {
	if !l.pending || !l.out.room() {
		return nil
	}
	seq, released := l.out.sent+1, l.in.released
	l.header.fill(seq, released, l.stamp)
	slot := uint64(seq % l.out.slots)
	flag := gaspi.Notification{ID: l.id0 + gaspi.NotificationID(slot), Value: valueOf(seq)}
	for {
		err := w.queue.WriteNotify(l.slot0.Plus(slot*l.stride), l.source, flag)
		if err == nil {
			break
		}
		if err := w.makeRoom(ctx, l.peer, err); err != nil {
			return err
		}
	}
	l.out.sent, l.in.told = seq, released
	l.pending, l.borrowed, l.sent = false, true, l.stamp.fresh
	return nil
}

// credit tells the peer what is released if it must know.
func (w *wire) credit(ctx context.Context, l *neighbour) error {
	if !l.in.owesCredit() {
		return nil
	}
	released := l.in.released
	flag := gaspi.Notification{ID: l.creditID(), Value: valueOf(released)}
	for {
		err := w.queue.Notify(l.slot0, flag)
		if err == nil {
			break
		}
		if err := w.makeRoom(ctx, l.peer, err); err != nil {
			return err
		}
	}
	l.in.told = released
	return nil
}

// makeRoom empties the queue if err, of an operation with peer, says that it is
// full. Otherwise it returns what the caller should know of err.
func (w *wire) makeRoom(ctx context.Context, peer gaspi.Rank, err error) error {
	switch {
	case errors.Is(err, gaspi.ErrQueueFull):
		return w.settle(ctx)
	case !errors.Is(err, gaspi.ErrNoSegment):
		return err
	}
	// A rank that ends gives up its segments before anybody hears of its end, and
	// before that it would have told this one that it needs nothing more.
	return agree.Reason(ctx, w.seg, w.missing, &gaspi.RankError{Rank: peer, Reason: "it has given up the reduction without Close"})
}

// poll takes in all that has arrived on any link, and then sends whatever became
// possible. It goes by the state of the links and not by the events, so that what
// an error cut short is done the next time. So does credits.
func (w *wire) poll(ctx context.Context) error {
	if err := w.collect(); err != nil {
		return err
	}
	for i := range w.links {
		if err := w.send(ctx, &w.links[i]); err != nil {
			return err
		}
	}
	return nil
}

// credits tells all peers that must know what is released. It is called where
// this rank is about to send nothing for a while, asleep or between two calls;
// before that, a message may carry the news.
func (w *wire) credits(ctx context.Context) error {
	for i := range w.links {
		if err := w.credit(ctx, &w.links[i]); err != nil {
			return err
		}
	}
	return nil
}

// collect takes in all that has arrived on any link.
func (w *wire) collect() error {
	for {
		id, ok, err := w.seg.TrySome(0, w.ids)
		if err != nil || !ok {
			return err
		}
		if err := w.take(id); err != nil {
			return err
		}
	}
}

// take takes in one notification.
func (w *wire) take(id gaspi.NotificationID) error {
	v, err := w.seg.Reset(id)
	if err != nil {
		return err
	}
	perLink := w.ids / uint32(len(w.links))
	l, slot := &w.links[uint32(id)/perLink], int(uint32(id)%perLink)
	if slot == int(l.in.slots) {
		l.out.credited(v)
		return nil
	}
	h := l.headers[slot]
	if valueOf(h.seq()) != v || !l.in.arrive(slot, h.seq()) || !l.out.free(h.freed()) {
		return fmt.Errorf("rank %d sent message %d, notified as %d, into slot %d, which cannot be; use segment %d for nothing else",
			l.peer, h.seq(), v, slot, w.seg.ID())
	}
	l.stamps[slot] = h.stamp()
	return nil
}

// await waits until l has a message that call clock may use, and returns its
// slot. Meanwhile it serves all links: others may be waiting for this rank.
func (w *wire) await(ctx context.Context, l *neighbour, clock, need int64) (slot int, err error) {
	if err := w.poll(ctx); err != nil {
		return 0, err
	}
	slot, ok := l.usable(clock, need)
	if ok {
		return slot, nil
	}
	start := time.Now()
	defer func() { w.waited += time.Since(start) }()
	for !ok {
		if err := w.doze(ctx); err != nil {
			return 0, err
		}
		if err := w.poll(ctx); err != nil {
			return 0, err
		}
		slot, ok = l.usable(clock, need)
	}
	return slot, nil
}

// supply waits until each peer has been sent a message of freshness need at least, serving all
// links meanwhile. A caller that stays away afterwards, in another collective operation say,
// then holds back nothing that a peer's call with the same clock waits for.
func (w *wire) supply(ctx context.Context, need int64) error {
	if !w.owes(need) {
		return nil
	}
	start := time.Now()
	defer func() { w.waited += time.Since(start) }()
	for {
		if err := w.poll(ctx); err != nil || !w.owes(need) {
			return err
		}
		if err := w.doze(ctx); err != nil {
			return err
		}
	}
}

// owes reports whether something waits for a slot at a peer that was sent nothing of
// freshness need.
func (w *wire) owes(need int64) bool {
	for i := range w.links {
		if l := &w.links[i]; l.pending && l.sent < need {
			return true
		}
	}
	return false
}

// doze waits until something has arrived on any link or a member is gone.
func (w *wire) doze(ctx context.Context) error {
	if err := w.credits(ctx); err != nil {
		return err
	}
	if err := w.seg.WaitFunc(ctx, w.lookFn, gaspi.ThroughLosses); err != nil {
		return err
	}
	gone := w.missing()
	if w.arrived() { // before the end of whoever sent it
		return nil
	}
	return gone
}

// look reports whether there is a reason to end a wait.
func (w *wire) look() bool { return w.arrived() || w.missing() != nil }

// arrived reports whether a notification waits to be taken.
func (w *wire) arrived() bool {
	for id := range w.ids {
		if w.seg.Peek(gaspi.NotificationID(id)) != 0 {
			return true
		}
	}
	return false
}

// missing is why some member takes no part any more, or nil: it has ended, or its New has
// failed when others had made the reduction. A result depends on all members, wherever their
// links go.
func (w *wire) missing() error {
	if err := w.own.Revoked(); err != nil {
		return err
	}
	for _, r := range w.ranks {
		if err := w.proc.Failure(r); err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether nothing waits for a slot.
func (w *wire) idle() bool {
	for i := range w.links {
		if w.links[i].pending {
			return false
		}
	}
	return true
}

// drain serves the links until nothing waits for a slot and all that was sent
// has arrived.
func (w *wire) drain(ctx context.Context) error {
	if err := w.poll(ctx); err != nil {
		return err
	}
	for !w.idle() {
		if err := w.doze(ctx); err != nil {
			return err
		}
		if err := w.poll(ctx); err != nil {
			return err
		}
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	for i := range w.links {
		if err := w.queue.Flush(ctx, w.links[i].peer); err != nil {
			return err
		}
	}
	return nil
}

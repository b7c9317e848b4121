package prove

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// open makes lanes, memories and slots, and lets callers write their vectors for
// the first run.
func (k *check) open() {
	p := k.call.Size
	k.terms.begin()
	k.wanted = emptied(k.wanted)
	k.slots, k.begun = zeros(k.slots, p*k.slotsEach()), zeros(k.begun, p)
	k.slotPool.used, k.fencePool.used = 0, 0
	k.ready, k.first, k.lanes, k.memories = k.ready[:0], k.first[:0], k.lanes[:0], k.memories[:0]
	k.nameBuffers()
	k.makeRoom()
	for r, s := range k.plans {
		k.first = append(k.first, int32(len(k.lanes)))
		for l := range max(1, len(s.Lanes)) {
			id := len(k.lanes)
			k.lanes = longer(k.lanes)
			was := &k.lanes[id]
			*was = lane{rank: int32(r), lane: int32(l), id: int32(id), flushes: was.flushes[:0], fences: emptied(was.fences)}
		}
		for _, n := range []int{s.Scratch, s.Flip, s.Flip} {
			k.addMemory(n)
		}
		for _, buf := range k.buffers {
			n, _ := k.length(r, buf)
			k.addMemory(n)
		}
		for range k.opts.Depth.Copies {
			k.addMemory(s.Eager)
		}
	}
	k.first = append(k.first, int32(len(k.lanes)))
	k.clocks.begin(len(k.lanes))
	for i := range k.lanes {
		k.lanes[i].base = k.clocks.zero()
	}
}

// addMemory adds a memory of n elements that hold nothing.
func (k *check) addMemory(n int) {
	k.memories = longer(k.memories)
	k.memories[len(k.memories)-1].begin(n)
}

// makeRoom makes room for all events, of which there are many.
func (k *check) makeRoom() {
	events, sends := k.call.Size, 0
	for _, s := range k.plans {
		for _, steps := range s.Lanes {
			for i := range steps {
				switch steps[i].Kind {
				case schedule.Put, schedule.Signal, schedule.Credit:
					sends++
					events++
				case schedule.Combine, schedule.Encode, schedule.Decode:
					events++
				}
			}
		}
	}
	k.events = slices.Grow(k.events[:0], (k.opts.Runs+1)*events)
	k.sent = slices.Grow(k.sent[:0], k.opts.Runs*sends)
}

// lanesOf are the lanes of a rank, at least one. Steps of the rank outside of a run belong to
// its first lane.
func (k *check) lanesOf(rank int) []lane { return k.lanes[k.first[rank]:k.first[rank+1]] }

// begin lets the caller of a rank have its vectors, and starts the rank's lanes.
func (k *check) begin(rank int) error {
	lanes := k.lanesOf(rank)
	if err := k.turn(rank); err != nil {
		return err
	}
	k.begun[rank] = lanes[0].now
	for i := range lanes {
		l := &lanes[i]
		if i > 0 {
			k.clocks.drop(l.base)
			l.base = lanes[0].base.hold()
		}
		l.at = 0
		k.ready = append(k.ready, l.id)
	}
	return nil
}

// turn is the caller's: it reads and writes all its vectors. Before the first run
// it only writes them.
func (k *check) turn(rank int) error {
	l := &k.lanesOf(rank)[0]
	l.now++
	id := int32(len(k.events))
	k.events = append(k.events, access{
		run: int32(k.run), rank: l.rank, lane: -1, mark: mark{l.id, l.now}, sent: -1,
	})
	for _, buf := range k.buffers {
		r := schedule.Region{Rank: l.rank, Buf: buf, Len: k.memoryOf(l.rank, buf).n}
		if r.Len == 0 {
			continue
		}
		if err := k.write(l, id, r, k.written(rank, buf)); err != nil {
			return err
		}
	}
	l.base = k.clocks.own(l.base)
	l.base.seen[l.id] = l.now
	return nil
}

// end ends the run of a rank: all its lanes have ended and flushed.
func (k *check) end(rank int) error {
	lanes := k.lanesOf(rank)
	for i := range lanes {
		l := &lanes[i]
		l.now++
		l.flushes = append(l.flushes, l.now)
		lanes[0].base = k.clocks.own(lanes[0].base)
		lanes[0].base.join(l.base)
		lanes[0].base.seen[l.id] = l.now
	}
	if k.call.Op == schedule.Barrier {
		for r, begun := range k.begun {
			if !lanes[0].knows(mark{k.first[r], begun}) {
				return &Error{Rule: Contents, Run: k.run, Rank: rank, Lane: -1, What: noBarrier(r)}
			}
		}
	}
	return k.keeps(rank)
}

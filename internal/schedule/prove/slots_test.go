package prove

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// barrierCall is a call of two ranks that moves nothing.
func barrierCall(ranks int) *schedule.Call {
	return &schedule.Call{Op: schedule.Barrier, Size: ranks, Line: 1}
}

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		name string
		p    int
		emit schedule.Emitter
		rule Rule // "" if it is right
		want []string
	}{
		{"each tells the other", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Signal(1-b.Rank(), s)
			b.Await(s)
		}, "", nil},
		{"nobody sends", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			if b.Rank() == 0 {
				b.Signal(1, s)
			}
			b.Await(s)
		}, Progress, []string{"run 0 rank 0 lane 0 step 1 (await 0): waits for ever: slot 0 has been posted 0 times, and is posted 0 times in all"}},
		{"sent once, awaited twice", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Signal(1-b.Rank(), s)
			b.Await(s)
			if b.Rank() == 1 {
				b.Await(s)
			}
		}, Progress, []string{"run 0 rank 1 lane 0 step 2 (await 0 x2): waits for ever: slot 0 has been posted 1 times, and is posted 1 times in all"}},
		{"a circle", 5, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Await(s)
			b.Signal((b.Rank()+1)%5, s)
		}, Progress, []string{"rank 0 lane 0 step 0 (await 0): waits for ever", "has posts that wait in turn; so do rank 1 lane 0 step 0 (await 0), rank 2", "rank 3", "1 others"}},
		{"two lanes undo a circle", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(2)
			b.Fork(2, func(i int) {
				if i == 0 {
					b.Await(s)
					b.Signal(1-b.Rank(), s+1)
				} else {
					b.Signal(1-b.Rank(), s)
					b.Await(s + 1)
				}
			})
		}, "", nil},
		{"two writers", 3, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(2)
			if b.Rank() == 0 {
				b.Await(s)
				b.Await(s)
				b.Signal(1, s+1)
				b.Signal(2, s+1)
				return
			}
			b.Signal(0, s)
			b.Await(s + 1)
		}, Slots, []string{"slot 0 of rank 0 is also posted by rank", "a slot has one writer"}},
		{"posted and not awaited", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Signal(1-b.Rank(), s)
			b.Await(s)
			if b.Rank() == 0 {
				b.Signal(1, s)
			}
		}, Slots, []string{"run 0 rank 0 lane 0 step 2 (signal rank 1, post 0): rank 1 does not await this post in the run: slot 0 has 2 posts and 1 are awaited"}},
		{"two posts, two awaits", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Signal(1-b.Rank(), s)
			b.Signal(1-b.Rank(), s)
			awaitTwo(b, s)
		}, "", nil},
		{"two lanes post to one slot", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Fork(2, func(int) { b.Signal(1-b.Rank(), s) })
			awaitTwo(b, s)
		}, Slots, []string{"may overtake the post of rank 1 lane"}},
		{"two lanes post to one slot, in their order", 2, func(b *schedule.Builder, c *schedule.Call) {
			s, next, ack := b.Slots(1), b.Slots(1), b.Slots(1)
			peer := 1 - b.Rank()
			b.Fork(2, func(i int) {
				if i == 0 {
					b.Signal(peer, s)
					b.Await(s)
					b.Signal(peer, next)
				} else {
					b.Await(next)
					b.Signal(peer, s)
				}
			})
			b.Await(s)
			b.Signal(peer, ack)
			b.Await(ack)
		}, "", nil},
		{"two lanes post to one slot, against their order", 2, func(b *schedule.Builder, c *schedule.Call) {
			s, next, ack := b.Slots(1), b.Slots(1), b.Slots(1)
			peer := 1 - b.Rank()
			b.Fork(2, func(i int) {
				if i == 1 {
					b.Signal(peer, s)
					b.Await(s)
					b.Signal(peer, next)
				} else {
					b.Await(next)
					b.Signal(peer, s)
				}
			})
			b.Await(s)
			b.Signal(peer, ack)
			b.Await(ack)
		}, Slots, []string{"lane 1 step 1 (signal rank", "comes after the post of rank", "numbered in the order of lanes"}},
		{"puts may overtake each other", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			for range 2 {
				b.Put(b.Scratch(1).At(1-b.Rank(), 0, 0), b.In(b.Rank(), 0, 0), s)
			}
			awaitTwo(b, s)
		}, Slots, []string{"slot 0 of rank 0 may overtake the post of rank 1 lane 0 step 0", "or this a signal of the same lane"}},
		{"a signal does not overtake a put", 2, func(b *schedule.Builder, c *schedule.Call) {
			s, ack := b.Slots(1), b.Slots(1)
			peer := 1 - b.Rank()
			b.Put(b.Scratch(1).At(peer, 0, 0), b.In(b.Rank(), 0, 0), s)
			b.Signal(peer, s)
			awaitTwo(b, s)
			b.Signal(peer, ack)
			b.Await(ack)
		}, "", nil},
		{"the next run's put overtakes", 2, func(b *schedule.Builder, c *schedule.Call) {
			s := b.Slots(1)
			b.Put(b.Scratch(1).At(1-b.Rank(), 0, 0), b.In(b.Rank(), 0, 0), s)
			b.Await(s)
		}, Slots, []string{"run 1 rank 1 lane 0 step 0", "may overtake the post of rank 1 lane 0 step 0", "of run 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checked(barrierCall(c.p), c.emit, Options{})
			if c.rule != "" {
				refused(t, err, c.rule, c.want...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// awaitTwo awaits the second post of a slot, and so the first.
func awaitTwo(b *schedule.Builder, slot int) {
	b.Await(slot)
	b.Await(slot)
}

func TestBarrierKnowsOfAll(t *testing.T) {
	err := checked(barrierCall(3), func(b *schedule.Builder, c *schedule.Call) {
		s := b.Slots(1) // everybody hears of the left neighbour alone
		b.Signal((b.Rank()+1)%3, s)
		b.Await(s)
	}, Options{})
	refused(t, err, Contents, "run 0 rank 0: ends without knowing that rank 1 has begun")
}

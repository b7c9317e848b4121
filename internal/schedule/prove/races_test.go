package prove

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A race is tested with a broadcast of two ranks and four elements; what all but
// the race needs is right.
func broadcastCall() *schedule.Call {
	return &schedule.Call{Op: schedule.Broadcast, Size: 2, Count: 4, Line: 1}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		emit schedule.Emitter
		rule Rule // "" if it is right
		want []string
	}{
		{"credit, put, await", func(b *schedule.Builder, c *schedule.Call) {
			credit, data := b.Slots(1), b.Slots(1)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Put(b.Out(1, 0, 4), b.Out(0, 0, 4), data)
		}, "", nil},
		{"no credit", func(b *schedule.Builder, c *schedule.Call) {
			data := b.Slots(1)
			if b.Rank() == 1 {
				b.Await(data)
				return
			}
			b.Put(b.Out(1, 0, 4), b.Out(0, 0, 4), data)
		}, Race, []string{"run 0 rank 0 lane 0 step 0 (put out[0:4] -> 1:out[0:4], post 0)", "writes 1:out[0:4] while the caller of rank 1 before run 0 may still be writing it"}},
		{"nobody says that the data is there", func(b *schedule.Builder, c *schedule.Call) {
			credit, data := b.Slots(1), b.Slots(1)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Signal(1, data)
			b.Put(b.Out(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
		}, Race, []string{"run 1 rank 1: the caller writes 1:out[0:4] while rank 0 lane 0 step 2 (put out[0:4] -> 1:out[0:4]) of run 0 may still be writing it"}},
		{"a signal comes after all puts of its lane", func(b *schedule.Builder, c *schedule.Call) {
			credit, data := b.Slots(1), b.Slots(1)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Put(b.Out(1, 0, 2), b.Out(0, 0, 2), schedule.NoSlot)
			b.Put(b.Out(1, 2, 2), b.Out(0, 2, 2), schedule.NoSlot)
			b.Signal(1, data)
		}, "", nil},
		{"a put does not come after another", func(b *schedule.Builder, c *schedule.Call) {
			credit, data := b.Slots(1), b.Slots(1)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Put(b.Out(1, 0, 2), b.Out(0, 0, 2), schedule.NoSlot)
			b.Put(b.Out(1, 2, 2), b.Out(0, 2, 2), data)
		}, Race, []string{"the caller writes 1:out[0:2] while rank 0 lane 0 step 1"}},
		{"a signal of another lane says nothing", func(b *schedule.Builder, c *schedule.Call) {
			credit, data := b.Slots(1), b.Slots(1)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Fork(2, func(i int) {
				if i == 0 {
					b.Await(credit)
					b.Put(b.Out(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
				} else {
					b.Signal(1, data)
				}
			})
		}, Race, []string{"the caller writes 1:out[0:4] while rank 0 lane 0 step 1"}},
		{"the source is changed under the put", func(b *schedule.Builder, c *schedule.Call) {
			credit, data, hold := b.Slots(1), b.Slots(1), b.Scratch(4)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Copy(hold.At(0, 0, 4), b.Out(0, 0, 4))
			b.Put(b.Out(1, 0, 4), hold.At(0, 0, 4), data)
			b.Copy(hold.At(0, 1, 2), b.Out(0, 0, 2))
		}, Race, []string{"run 0 rank 0 lane 0 step 3 (copy scratch[1:3] = out[0:2]): writes 0:scratch[1:3] while rank 0 lane 0 step 2 (put scratch[0:4] -> 1:out[0:4], post 1) of run 0 may still be reading it"}},
		{"after a flush it may be changed", func(b *schedule.Builder, c *schedule.Call) {
			credit, data, hold := b.Slots(1), b.Slots(1), b.Scratch(4)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				return
			}
			b.Await(credit)
			b.Copy(hold.At(0, 0, 4), b.Out(0, 0, 4))
			b.Put(b.Out(1, 0, 4), hold.At(0, 0, 4), data)
			b.Flush()
			b.Copy(hold.At(0, 1, 2), b.Out(0, 0, 2))
		}, "", nil},
		{"a flush says nothing about the peer", func(b *schedule.Builder, c *schedule.Call) {
			data, left, hold := b.Slots(1), b.Slots(1), b.Scratch(4)
			if b.Rank() == 1 {
				b.Await(data)
				b.Copy(b.Out(1, 0, 4), hold.At(1, 0, 4))
				return
			}
			b.Fork(2, func(i int) {
				if i == 0 {
					b.Put(hold.At(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
					b.Flush()
					b.Signal(0, left)
				} else {
					b.Await(left)
					b.Signal(1, data)
				}
			})
		}, Race, []string{"reads 1:scratch[0:4] while rank 0 lane 0 step 0", "may still be writing it"}},
		{"an await at the peer frees the source", func(b *schedule.Builder, c *schedule.Call) {
			credit, data, done, hold := b.Slots(1), b.Slots(1), b.Slots(1), b.Scratch(4)
			if b.Rank() == 1 {
				b.Signal(0, credit)
				b.Await(data)
				b.Signal(0, done)
				return
			}
			b.Await(credit)
			b.Copy(hold.At(0, 0, 4), b.Out(0, 0, 4))
			b.Put(b.Out(1, 0, 4), hold.At(0, 0, 4), data)
			b.Await(done)
			b.Copy(hold.At(0, 1, 2), b.Out(0, 0, 2))
		}, "", nil},
		{"the next run overtakes the reader of the last", func(b *schedule.Builder, c *schedule.Call) {
			data, hold := b.Slots(1), b.Scratch(4)
			if b.Rank() == 1 {
				b.Await(data)
				b.Copy(b.Out(1, 0, 4), hold.At(1, 0, 4))
				return
			}
			b.Put(hold.At(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
			b.Signal(1, data)
		}, Race, []string{"run 1 rank 0", "writes 1:scratch[0:4] while rank 0 lane 0 step 0", "of run 0 may still be writing it"}},
		{"flip without hearing of the peer", func(b *schedule.Builder, c *schedule.Call) {
			data, hold := b.Slots(1), b.Flip(4)
			if b.Rank() == 1 {
				b.Await(data)
				b.Copy(b.Out(1, 0, 4), hold.At(1, 0, 4))
				return
			}
			b.Put(hold.At(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
			b.Signal(1, data)
		}, Race, []string{"run 2 rank 0", "writes 1:flip[0:4] while rank 0 lane 0 step 0", "of run 0 may still be writing it"}},
		{"flip with hearing of the peer", func(b *schedule.Builder, c *schedule.Call) {
			data, begun, hold := b.Slots(1), b.Slots(1), b.Flip(4)
			if b.Rank() == 1 {
				b.Signal(0, begun)
				b.Await(data)
				b.Copy(b.Out(1, 0, 4), hold.At(1, 0, 4))
				return
			}
			b.Put(hold.At(1, 0, 4), b.Out(0, 0, 4), schedule.NoSlot)
			b.Signal(1, data)
			b.Await(begun)
		}, "", nil},
		{"eager memory with credits", eagerly(func(b *schedule.Builder, credit int) { b.AwaitCredit(credit) }, true), "", nil},
		{"eager memory without credits", eagerly(func(*schedule.Builder, int) {}, true),
			Race, []string{"run 2 rank 0 lane 0 step 0", "writes 1:eager[0:4] while rank 0 lane 0 step 0", "of run 0 may still be writing it"}},
		{"eager memory that is not given back", eagerly(func(b *schedule.Builder, credit int) { b.AwaitCredit(credit) }, false),
			Progress, []string{"run 2 rank 0 lane 0 step 0 (await credit 0): waits for ever: credits have been given 0 times in slot 0, and not 1 times"}},
		{"credits among other posts", eagerly(func(b *schedule.Builder, credit int) { b.Await(credit) }, true),
			Progress, []string{"run 0 rank 0 lane 0 step 0 (await 0): waits for ever"}},
		{"lanes of a rank are not ordered", func(b *schedule.Builder, c *schedule.Call) {
			hold := b.Scratch(4)
			if b.Rank() == 1 {
				return
			}
			b.Fork(2, func(i int) { b.Copy(hold.At(0, i, 2), b.Out(0, 0, 2)) })
		}, Race, []string{"rank 0 lane 0 step 0", "writes 0:scratch[1:2] while rank 0 lane 1 step 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checked(broadcastCall(), c.emit, Options{Exposes: true})
			if c.rule != "" {
				refused(t, err, c.rule, c.want...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// eagerly is a broadcast to rank 1 through eager memory. Rank 0 awaits a credit in some way, which
// rank 1 gives or does not.
func eagerly(await func(b *schedule.Builder, credit int), gives bool) schedule.Emitter {
	return func(b *schedule.Builder, c *schedule.Call) {
		data, credit, hold := b.EagerSlots(1), b.Slots(1), b.Eager(4)
		if b.Rank() == 0 {
			await(b, credit)
			b.Put(hold.At(1, 0, 4), b.Out(0, 0, 4), data)
			return
		}
		b.Await(data)
		b.Copy(b.Out(1, 0, 4), hold.At(1, 0, 4))
		if gives {
			b.Credit(0, credit)
		}
	}
}

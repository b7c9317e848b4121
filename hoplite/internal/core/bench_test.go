package core

import "testing"

// BenchmarkPutGetDelete is what the protocol costs of an object that one rank puts, the next one
// gets and a third, its directory, hears of: all messages go over a wire of memory.
func BenchmarkPutGetDelete(b *testing.B) {
	for _, c := range []struct {
		name   string
		inline int64
	}{{"inline", 100}, {"transfer", -1}} {
		b.Run(c.name, func(b *testing.B) {
			w := newWire(3, Config{Capacity: 1000, Inline: c.inline, InlineQuota: 100})
			id := idOf(2, 3)
			b.ReportAllocs()
			for call := CallID(1); b.Loop(); call += 3 {
				w.cores[0].Put(call, id, 100, 0)
				w.cores[0].Filled(call, 100)
				w.run()
				w.cores[1].Get(call+1, id)
				w.run()
				w.cores[0].Delete(call+2, id)
				w.run()
			}
			if left := w.cores[0].Left() + w.cores[1].Left() + w.cores[2].Left(); left != "" {
				b.Fatal(left)
			}
		})
	}
}

// A wire is a few cores that hear each other's messages at once, as bytes.
type wire struct {
	cores []*Core
	out   []Output
	text  []byte
	data  []byte
}

func newWire(size int, cfg Config) *wire {
	w := &wire{out: make([]Output, size), data: make([]byte, cfg.Capacity)}
	for r := range Rank(size) {
		cfg.Rank, cfg.Size = r, size
		w.cores = append(w.cores, New(cfg))
	}
	return w
}

// run carries what the cores want until they want nothing.
func (w *wire) run() {
	for again := true; again; {
		again = false
		for r := range w.cores {
			again = w.turn(Rank(r)) || again
		}
	}
}

// turn carries what one core wants, and reports whether it wanted anything.
func (w *wire) turn(r Rank) bool {
	c, out := w.cores[r], &w.out[r]
	c.Drain(out)
	for _, cmd := range out.Commands {
		if cmd.Op == OpPut {
			w.cores[cmd.Peer].Arrived(cmd.Slot, cmd.Watermark)
			c.Sent(cmd.Transfer)
		}
	}
	for i := range out.Sends {
		s := &out.Sends[i]
		if s.Attach {
			s.Msg.Payload = w.data[s.Off:][:s.Len]
		}
		w.text = s.Msg.Append(w.text[:0])
		m, err := Decode(w.text)
		if err != nil {
			panic(err)
		}
		w.cores[s.To].Receive(r, m)
	}
	for _, res := range out.Results {
		if res.Held {
			c.Release(res.Ref)
		}
	}
	return len(out.Commands)+len(out.Sends)+len(out.Results) > 0
}

package hoplite

import (
	"bytes"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/segment"
)

// fillAtOnce is how many bytes of a Put are copied to the store by whoever does the turn.
// More are copied by the caller, so that the turn goes on; that takes two wake-ups.
const fillAtOnce = 32 << 10

// pastCaches is the least size of an object in bytes that is copied past the caches, which do not keep so
// much beside what a program does: so copied, objects are copied by those who get them.
const pastCaches = 4 << 20

// drain does what the core wants, and reports whether it wanted anything. The caller
// holds mu.
func (s *Store) drain() bool {
	s.core.Drain(&s.output)
	out := &s.output
	done := 0
	doUpTo := func(n int) {
		for ; done < n; done++ {
			s.do(&out.Commands[done])
		}
	}
	for i := range out.Sends {
		doUpTo(out.Sends[i].After)
		s.send(&out.Sends[i])
	}
	doUpTo(len(out.Commands))
	for i := range out.Results {
		s.result(&out.Results[i])
	}
	return len(out.Commands)+len(out.Sends)+len(out.Results) > 0
}

// at is [off, off+n) of the objects.
func (s *Store) at(off, n int64) []byte { return s.mem[off:][:n:n] }

// do carries out a command.
func (s *Store) do(cmd *core.Command) {
	switch cmd.Op {
	case core.OpFill:
		s.fill(cmd)
	case core.OpPut:
		s.put(cmd)
	case core.OpFold:
		s.foldNear(cmd)
	case core.OpFoldData:
		s.operands = append(s.operands[:0], s.at(cmd.Off, cmd.Len), cmd.Data)
		s.fold(cmd, s.at(cmd.Off, cmd.Len), nil, s.operands)
	case core.OpCopy:
		if src := s.read(cmd.Peer, cmd.Src, cmd.Len); !src.unreadable {
			if dst := s.at(cmd.Off, cmd.Len); cmd.Whole >= pastCaches && cpu.CopiesPast() {
				cpu.CopyPast(dst, src.bytes)
			} else {
				segment.Copy(dst, src.bytes)
			}
			s.checkRead(&src)
		}
	case core.OpStore:
		copy(s.at(cmd.Off, cmd.Len), cmd.Data)
	case core.OpTell:
		s.tell(cmd)
	case core.OpReport:
		if !s.unread {
			s.sent = append(s.sent, cmd.Transfer)
		}
		s.unread = false
	}
}

// fill has the bytes of a Put copied.
func (s *Store) fill(cmd *core.Command) {
	c := s.calls[cmd.Call]
	switch {
	case c == nil && s.broken != nil:
		return // the end of the store has told all calls
	case c == nil:
		panic("hoplite: the core wants the bytes of a call that has ended")
	}
	if cmd.Len > fillAtOnce {
		c.tell(callEvent{fill: true, off: cmd.Off})
		return
	}
	copy(s.at(cmd.Off, cmd.Len), c.data)
	s.core.Filled(c.number, cmd.Len)
}

// fold stores the combination of the operands in dst, and in also if that is not nil. Bytes at the end of an object that are no whole element
// stay as they are: the caller of the reduction finds out by the size.
func (s *Store) fold(cmd *core.Command, dst, also []byte, operands [][]byte) {
	k, known := s.kernels[cmd.Fold]
	if !known {
		fold, twice, size, err := reduce.Code(cmd.Fold).Fold()
		if err != nil {
			s.fail(err)
			return
		}
		k = kernel{fold, twice, size}
		s.kernels[cmd.Fold] = k
	}
	n := int(cmd.Len) - int(cmd.Len)%k.size
	for i := range operands {
		operands[i] = operands[i][:n]
	}
	if also != nil {
		k.twice(dst[:n], also[:n], operands)
	} else {
		k.fold(dst[:n], operands)
	}
	s.stats.Folded += uint64(n) * uint64(len(operands)-1)
}

// send posts a message, or hands it straight back if it is for this rank.
func (s *Store) send(snd *core.Send) {
	m := &snd.Msg
	if snd.Attach {
		m.Payload = s.at(snd.Off, snd.Len)
	}
	if m.Kind() == core.KindPull {
		s.expect(snd.To, m.Pull())
		if m.ID != "" {
			s.pulled = append(s.pulled, m.ID)
		}
	}
	if int(snd.To) != s.me {
		s.postMail(int(snd.To), m)
		return
	}
	if snd.Attach {
		m.Payload = bytes.Clone(m.Payload)
	}
	s.receive(snd.To, *m)
}

// expect remembers what a slot is about to receive.
func (s *Store) expect(from core.Rank, m core.Pull) {
	t := transfer{m.Slot, m.Size, from}
	if i := slices.IndexFunc(s.active, func(t transfer) bool { return t.slot == m.Slot }); i >= 0 {
		s.active[i] = t
		return
	}
	s.active = append(s.active, t)
}

// receive hands a message to the core.
func (s *Store) receive(from core.Rank, m core.Message) {
	switch m.Kind() {
	case core.KindPull:
		p := m.Pull()
		s.asked[asked{from, p.Slot}] = p.Size
	case core.KindStopped:
		p := m.Stopped()
		// The slot may now be given to another transfer: what the old one has left in its
		// word must not be taken for that one's. If it was given already, there was nothing.
		if s.core.Expects(p.Slot, p.Seq) {
			s.readWord(p.Slot)
		}
	}
	s.core.Receive(from, m)
}

// readWords tells the core how far transfers have come. The caller holds mu.
func (s *Store) readWords() bool {
	found := false
	for i := 0; i < len(s.active); {
		t := s.active[i]
		mark := s.takeWord(t)
		if mark > 0 {
			found = true
			s.core.Arrived(t.slot, mark)
		}
		if mark == t.size {
			s.active[i] = s.active[len(s.active)-1]
			s.active = s.active[:len(s.active)-1]
			continue
		}
		i++
	}
	return found
}

// readWord is readWords for one slot, which is not expected to receive more.
func (s *Store) readWord(slot uint32) {
	for i, t := range s.active {
		if t.slot == slot {
			if mark := s.takeWord(t); mark > 0 {
				s.core.Arrived(slot, mark)
			}
			s.active[i] = s.active[len(s.active)-1]
			s.active = s.active[:len(s.active)-1]
			return
		}
	}
}

// takeWord is the watermark that was posted to a slot since it was last asked for, 0 if
// none was.
func (s *Store) takeWord(t transfer) int64 {
	id := s.lay.word(t.slot)
	if s.seg.Peek(id) == 0 {
		return 0
	}
	v, err := s.seg.Reset(id)
	if err != nil || v == 0 {
		return 0
	}
	return markOf(v, t.size)
}

// result ends a call, or is one of several answers.
func (s *Store) result(res *core.CallResult) {
	c := s.calls[res.Call]
	if c == nil {
		return
	}
	if c.follower != nil {
		s.moveOn() // what was copied of another object than this must be known as such
	}
	if res.Final {
		s.endCall(c)
	}
	c.tell(callEvent{res: *res})
}

// endCall forgets a call that has its result.
func (s *Store) endCall(c *openCall) {
	delete(s.calls, c.number)
	if c.room == nil {
		return
	}
	if f := c.follower; f != nil {
		s.followed = slices.DeleteFunc(s.followed, func(o *follower) bool { return o == f })
	}
	rest := slices.DeleteFunc(s.gets[c.id], func(o *openCall) bool { return o == c })
	if s.gets[c.id] = rest; len(rest) == 0 {
		delete(s.gets, c.id)
	}
}

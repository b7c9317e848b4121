package tcp

import "github.com/gaspi-go/gaspi-go/internal/transport/remote"

// pieceMost is the most bytes of a reply to a get in one frame. A long reply in one
// frame would hold up other frames to the peer.
const pieceMost = 256 << 10

// A getReply is the rest of a reply to a get that takes several frames, or a refusal behind one.
type getReply struct {
	x      *region // nil for a refusal
	number uint32
	mem    []byte // not yet queued
	offset uint64 // of mem in the reply

	segment    uint32 // that was asked for
	generation uint64
}

// getReplies are replies that wait until the one before is queued to its end. They are
// in the order of the requests.
type getReplies []getReply

// handleGet replies to a get with its first piece. streamLocked queues the others.
func (c *conn) handleGet(f *frame) error {
	s := getReply{x: c.find(f.segment, f.generation), number: f.number, segment: f.segment, generation: f.generation}
	if s.x != nil {
		mem, ok := s.x.Memory(f.offset, f.length)
		if !ok {
			return errBounds
		}
		s.mem = mem
	}
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended != nil {
		return nil
	}
	if o.replies+len(o.gets) >= repliesMost {
		return errTooManyReplies
	}
	if len(o.gets) > 0 {
		o.gets = append(o.gets, s)
		return nil
	}
	piece := s.next(&o.head)
	if r, _ := o.passLocked(piece); r != nil {
		r.from, r.reply = s.x, true
		o.replies++
	}
	if len(s.mem) > 0 {
		o.gets = append(o.gets, s)
		if o.first == nil {
			o.streamLocked()
		}
	}
	return nil
}

// next takes the next piece off s and writes its header. A refusal has no bytes.
func (s *getReply) next(h *[headSize]byte) []byte {
	if s.x == nil {
		f := frame{kind: kindRefused, code: uint8(remote.RefusedSegment), number: s.number, segment: s.segment, generation: s.generation}
		f.put(h)
		return nil
	}
	piece := s.mem[:min(len(s.mem), pieceMost)]
	f := frame{kind: kindData, number: s.number, offset: s.offset, length: uint64(len(piece))}
	s.mem = s.mem[len(piece):]
	s.offset += uint64(len(piece))
	if len(s.mem) == 0 {
		f.flags = flagLast
	}
	f.put(h)
	return piece
}

// streamLocked queues the next piece of the first getReply, if no reply waits to be
// sent.
func (o *outbox) streamLocked() {
	for len(o.gets) > 0 && o.replies == 0 {
		s := &o.gets[0]
		if s.x != nil && !s.x.Usable() {
			s.x, s.mem = nil, nil
		}
		r := o.queueLocked(s.next(&o.head))
		r.from, r.reply = s.x, true
		o.replies++
		if len(s.mem) == 0 {
			o.gets = append(o.gets[:0], o.gets[1:]...)
		}
	}
}

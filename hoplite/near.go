package hoplite

import (
	"fmt"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A stored is part of the objects of a member that shares memory with this rank.
type stored struct {
	of         *peer
	at         uint64
	span       segment.Span
	bytes      []byte
	unreadable bool
}

// read returns [off, off+n) of a member's objects, to be read where it is.
func (s *Store) read(m core.Rank, off, n int64) stored {
	if int(m) == s.me {
		return stored{bytes: s.at(off, n)}
	}
	src := stored{of: &s.peers[m], at: s.lay.objects() + uint64(off)}
	mapped := false
	if src.span, mapped = s.seg.Mapped(src.of.rank, src.at, uint64(n)); !mapped {
		s.cannotRead(&src)
		return src
	}
	src.bytes = src.span.Bytes()
	return src
}

// checkRead finds out whether the member still had its memory when it was read: one that leaves
// withdraws it before it gives it back to the system, and then it reads as zeros.
func (s *Store) checkRead(src *stored) {
	if src.of == nil {
		return
	}
	s.reads.Add(1) // an addition orders the bytes before the look
	if _, mapped := s.seg.Mapped(src.of.rank, src.at, src.span.Len()); !mapped {
		s.cannotRead(src)
	}
	runtime.KeepAlive(src.span)
}

// cannotRead has what was read not reported. The member is gone, or about to be.
func (s *Store) cannotRead(src *stored) {
	src.unreadable, s.unread = true, true
	if p := src.of; p.live && !p.mute {
		p.mute, p.out.backlog = true, nil
		s.suspect(p, fmt.Errorf("%w: rank %d has withdrawn segment %d", gaspi.ErrNoSegment, p.rank, s.seg.ID()))
	}
}

// foldNear combines parts of stores of members that share memory with this rank, in a store of one.
func (s *Store) foldNear(cmd *core.Command) {
	s.parts, s.operands = s.parts[:0], s.operands[:0]
	for _, from := range cmd.From {
		part := s.read(from.Rank, from.Off, cmd.Len)
		if part.unreadable {
			return
		}
		s.parts, s.operands = append(s.parts, part), append(s.operands, part.bytes)
	}
	dst := s.read(cmd.Peer, cmd.Off, cmd.Len)
	if dst.unreadable {
		return
	}
	s.parts = append(s.parts, dst)
	var also stored
	if cmd.Twice {
		if also = s.read(cmd.Also.Rank, cmd.Also.Off, cmd.Len); also.unreadable {
			return
		}
		s.parts = append(s.parts, also)
	}
	s.fold(cmd, dst.bytes, also.bytes, s.operands)
	for i := range s.parts {
		s.checkRead(&s.parts[i])
	}
}

// tell posts the watermark of a copy that is lent.
func (s *Store) tell(cmd *core.Command) {
	p := &s.peers[cmd.Peer]
	if !p.live || p.mute {
		return
	}
	s.stats.Chunks++
	s.stats.BytesSent += uint64(cmd.Watermark - cmd.Off)
	n := gaspi.Notification{ID: s.lay.word(cmd.Slot), Value: wordOf(cmd.Watermark, s.asked[asked{cmd.Peer, cmd.Slot}])}
	s.post(p, nil, func(q *gaspi.Queue) error { return q.Notify(s.seg.At(p.rank, 0), n) })
}

// longShared is the size in bytes from which others fold chunks of a target although ranks outnumber cores. With 4
// ranks on 2 cores an allreduce of 1 MiB took longer then, and one of 4 MiB less.
const longShared = 2 << 20

// shareCores reports whether ranks of this host outnumber its cores. The caller of a reduction gets all sources
// only then: others that have a core fold on it.
func (s *Store) shareCores() bool { return s.proc.LocalSize() > s.proc.LocalCores() }

package hoplite

import (
	"slices"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Get copies an object out of the store while it still arrives: the caller copies behind
// the watermark, which turns move. Objects of a chunk or less are not worth it.

// A follower is the part of a Get that goes on at the watermark.
type follower struct {
	part core.PartialObject
	have atomic.Int64  // bytes that are there; goneBytes if they mean nothing any more
	more chan struct{} // has an element when have has changed

	copied   int64  // the caller's
	dst      []byte // the caller's; nil if it has no room
	released bool   // the caller's: its reference was given up
}

const goneBytes = -1

// followPulled begins to follow where a transfer has begun that Gets wait for. The caller
// holds mu.
func (s *Store) followPulled() {
	for _, id := range s.pulled {
		for _, c := range s.gets[id] {
			if c.follower != nil {
				continue
			}
			part, ok := s.core.Follow(c.number)
			if !ok {
				continue
			}
			if part.Size <= s.cfg.Chunk {
				s.core.Release(part.Ref)
				continue
			}
			c.follower = &follower{part: part, more: make(chan struct{}, 1)}
			s.followed = append(s.followed, c.follower)
			c.tell(callEvent{follow: c.follower})
		}
	}
	s.pulled = s.pulled[:0]
	s.moveOn()
}

// moveOn tells followers how far their objects are. One that has all bytes of an object may
// still hear that they mean nothing: the directory may refuse what was made here. The caller
// holds mu.
func (s *Store) moveOn() {
	s.followed = slices.DeleteFunc(s.followed, func(f *follower) bool {
		have, ok := s.core.Progress(f.part.Ref)
		if !ok {
			have = goneBytes
		}
		if f.have.Load() == have {
			return false
		}
		f.have.Store(have)
		select {
		case f.more <- struct{}{}:
		default:
		}
		return !ok
	})
}

// follow has the caller begin to copy.
func (s *Store) follow(c *openCall, f *follower) {
	c.caught = f
	if dst, err := c.room(f.part.Size); err == nil { // otherwise the result says so again
		f.dst = dst
	}
	s.copyMore(f)
}

// copyMore copies what has arrived since. A follower that is no longer of use is given up at
// once: the Get waits for another object now, and perhaps for this one's memory.
func (s *Store) copyMore(f *follower) {
	have := f.have.Load()
	if have == goneBytes {
		s.unfollow(f)
	}
	if have == goneBytes || f.dst == nil {
		return
	}
	segment.Copy(f.dst[f.copied:have], s.at(f.part.Off+f.copied, have-f.copied))
	f.copied = have
}

// unfollow gives up the reference of a follower.
func (s *Store) unfollow(f *follower) {
	if !f.released {
		f.released = true
		s.letGo(f.part.Ref)
	}
}

// copyOut copies what a Get has brought, as far as it was not copied yet, and gives up
// its references.
func (s *Store) copyOut(c *openCall, res core.CallResult) error {
	defer s.letGo(res.Ref)
	dst, err := c.room(res.Size)
	if err != nil {
		return err
	}
	copied := int64(0)
	if f := c.caught; f != nil && f.have.Load() != goneBytes && f.dst != nil {
		copied = f.copied
	}
	segment.Copy(dst[copied:], s.bytesOf(res)[copied:])
	return nil
}

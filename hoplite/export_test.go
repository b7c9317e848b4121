package hoplite

import (
	"fmt"
	"math"
	"strings"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Leftovers says what a store still has although all objects were deleted: "" is nothing.
func (s *Store) Leftovers() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	add := func(n int, what string) {
		if n != 0 {
			left = append(left, fmt.Sprintf("%d %s", n, what))
		}
	}
	if text := s.core.Left(); text != "" {
		left = append(left, text)
	}
	words := 0
	for slot := range uint32(s.cfg.Slots) {
		if s.seg.Peek(s.lay.word(slot)) != 0 {
			words++
		}
	}
	add(words, "words of slots that nobody took")
	add(len(s.calls), "calls of the runner")
	add(len(s.active), "transfers that it looks at")
	add(len(s.sent), "puts that have landed")
	add(len(s.gets), "ids that Gets wait for")
	add(len(s.followed), "Gets that follow")
	return strings.Join(left, ", ")
}

// ReadsAround calls a function while bytes of a member's store are read, and reports whether they count as
// read.
func (s *Store) ReadsAround(member core.Rank, meanwhile func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := s.read(member, 0, 64)
	meanwhile()
	s.checkRead(&src)
	return !src.unreadable
}

// CorruptMail has the next turn find a record of a member that cannot be, after the calls that have begun meanwhile.
func (s *Store) CorruptMail(member int, meanwhile func(calls func() bool)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	meanwhile(s.inbox.waiting)
	n := gaspi.Notification{ID: s.lay.mail(member, s.peers[member].in.at), Value: math.MaxUint32}
	return s.queue.Notify(s.seg.At(s.proc.Rank(), 0), n)
}

// SharesCores reports whether ranks of this host outnumber its cores.
func (s *Store) SharesCores() bool { return s.shareCores() }

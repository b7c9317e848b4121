//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// passiveSends are sends whose time was over before they were received: the same call goes on.
// Package gaspi would withdraw them.
type passiveSends struct {
	mu   sync.Mutex
	left map[passiveCall][]*passiveSend // guarded by mu; that no thread waits for
}

// A passiveCall says which call a send was.
type passiveCall struct {
	segment      uint8
	rank         uint16
	offset, size uint64
}

// A passiveSend is one that is under way.
type passiveSend struct {
	done chan struct{}
	err  error // set before done is closed
}

// begin returns the send of a call: one that was left, or a new one.
func (s *passiveSends) begin(p *gaspi.Proc, call passiveCall, span gaspi.Span) *passiveSend {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.left[call]; len(left) > 1 {
		s.left[call] = left[1:]
		return left[0]
	} else if len(left) == 1 {
		delete(s.left, call)
		return left[0]
	}
	send := &passiveSend{done: make(chan struct{})}
	go func() {
		send.err = p.PassiveSend(context.Background(), gaspi.Rank(call.rank), span)
		close(send.done)
	}()
	return send
}

// await waits for a send for ms milliseconds, and leaves it to the next such call when it has not ended.
func (s *passiveSends) await(call passiveCall, send *passiveSend, ms uint64) int32 {
	var limit <-chan time.Time
	if !endless(ms) {
		limit = time.After(time.Duration(ms) * time.Millisecond)
	}
	select {
	case <-send.done:
	case <-limit:
		select {
		case <-send.done:
		default:
			s.leave(call, send)
			return C.GASPI_TIMEOUT
		}
	}
	return code(send.err)
}

func (s *passiveSends) leave(call passiveCall, send *passiveSend) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == nil {
		s.left = map[passiveCall][]*passiveSend{}
	}
	s.left[call] = append(s.left[call], send)
}

// ggo_passive_send sends a passive message.
//
//export ggo_passive_send
func ggo_passive_send(id uint8, offset uint64, r uint16, size, ms uint64) int32 {
	s := library
	p := s.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	span, wrong := s.span(id, offset, size)
	if wrong != 0 {
		return wrong
	}
	call := passiveCall{id, r, offset, size}
	return s.sends.await(call, s.sends.begin(p, call, span), ms)
}

// ggo_passive_receive receives a passive message.
//
//export ggo_passive_receive
func ggo_passive_receive(id uint8, offset uint64, r *C.gaspi_rank_t, size, ms uint64) int32 {
	s := library
	p := s.proc.Load()
	if p == nil {
		return C.GASPI_ERR_NOINIT
	}
	span, wrong := s.span(id, offset, size)
	if wrong != 0 {
		return wrong
	}
	return code(within(ms, func(ctx context.Context) error {
		from, _, err := p.PassiveReceive(ctx, span)
		if err == nil {
			*r = C.gaspi_rank_t(from)
		}
		return err
	}))
}

package hoplite

import (
	"context"
	"fmt"
	"hash/crc32"
	"reflect"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Put stores a copy of data under id and returns when the directory knows of it. The
// copy stays at this rank until Delete. data, which may be empty, is the caller's again
// when Put returns; its elements must have no pointers.
//
// An object of that id which has the same bytes is no error. One of another size, or whose
// content differs although it is not longer than Config.Chunk, is ErrExists; that longer
// ones have the same content is up to the program. Without room Put waits for what will be
// free without a Delete, and returns ErrFull if there is nothing of the kind. If ctx ends
// while there is no room, nothing was put; later, the object may come to be all the same.
func Put[T any](ctx context.Context, s *Store, id string, data []T) error {
	if err := elements[T](); err != nil {
		return &Error{Call: "put", ID: id, Err: err}
	}
	return s.putBytes(ctx, id, reduce.BytesOf(data))
}

// elements says why elements of type T cannot be stored, or nil.
func elements[T any]() error {
	switch t := reflect.TypeFor[T](); {
	case t.Size() == 0:
		return fmt.Errorf("%w: elements of type %v have no size", ErrMismatch, t)
	case !reduce.PointerFree(t):
		return fmt.Errorf("%w: elements of type %v have pointers, which mean nothing to other ranks", ErrMismatch, t)
	}
	return nil
}

// checkID says why an id is none, or nil.
func checkID(id string) error {
	if id == "" || len(id) > core.MaxID {
		return fmt.Errorf("an id of %d bytes; want 1 to %d", len(id), core.MaxID)
	}
	return nil
}

func (s *Store) putBytes(ctx context.Context, id string, data []byte) error {
	if err := checkID(id); err != nil {
		return &Error{Call: "put", ID: id, Err: err}
	}
	size, sum := int64(len(data)), s.sumOf(data)
	c := newCall(func(c *core.Core, call core.CallID) { c.Put(call, id, size, sum) })
	c.data = data
	_, err := s.run(ctx, "put", id, c)
	return err
}

// sumOf is a checksum of the content of objects that are not long, 0 of others: it must
// be known before the first byte is stored.
func (s *Store) sumOf(data []byte) uint64 {
	if int64(len(data)) > s.cfg.Chunk {
		return 0
	}
	return 1<<32 | uint64(crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// run makes a call and waits for its result. If ctx ends it takes the call back, and still
// waits for the word that it was: nobody touches the caller's memory after that.
func (s *Store) run(ctx context.Context, name, id string, c *openCall) (core.CallResult, error) {
	if err := ctx.Err(); err != nil {
		return core.CallResult{}, &Error{Call: name, ID: id, Err: err}
	}
	// The caller will wait: the loop, which an answer wakes, leaves the turns to it from the start.
	first := s.front.CompareAndSwap(nil, c)
	if err := s.inbox.put(submission{what: begin, call: c}); err != nil {
		if first {
			s.leave()
		}
		return core.CallResult{}, &Error{Call: name, ID: id, Err: err}
	}
	s.helpBut(c)
	waits, canceled := ctx, false
	for {
		e, err := s.next(waits, c)
		switch {
		case err != nil:
			waits, canceled = forever, true
			if s.inbox.put(submission{what: cancel, call: c}) == nil {
				s.help()
			}
		case e.fill:
			s.fillFrom(c, e.off)
		case e.follow != nil:
			s.follow(c, e.follow)
		default:
			if f := c.caught; f != nil {
				defer s.unfollow(f)
			}
			return s.outcome(ctx, name, id, e, canceled)
		}
	}
}

// next is the next event of a call. A caller that copies behind the watermark goes on with
// that meanwhile, and leaves the turns to others.
func (s *Store) next(ctx context.Context, c *openCall) (callEvent, error) {
	if c.caught == nil {
		return s.await(ctx, c)
	}
	for {
		select {
		case e := <-c.events:
			return e, nil
		case <-c.caught.more:
			s.copyMore(c.caught)
		case <-ctx.Done():
			return callEvent{}, ctx.Err()
		}
	}
}

// outcome is what a call returns.
func (s *Store) outcome(ctx context.Context, name, id string, e callEvent, canceled bool) (core.CallResult, error) {
	err := e.err
	if err == nil {
		err = causeOf(e.res.Code)
	}
	if err == nil {
		return e.res, nil
	}
	if e.res.Code == core.Canceled && canceled && ctx.Err() != nil {
		err = ctx.Err()
	}
	if e.res.ID != "" {
		id = e.res.ID
	}
	return e.res, &Error{Call: name, ID: id, Err: err}
}

// fillFrom copies the bytes of a Put to the store, and tells of each chunk, so that others
// can have it.
func (s *Store) fillFrom(c *openCall, off int64) {
	for at := int64(0); at < int64(len(c.data)); {
		n := min(s.cfg.Chunk, int64(len(c.data))-at)
		segment.Copy(s.at(off+at, n), c.data[at:at+n])
		at += n
		if s.inbox.put(submission{what: filled, call: c, upTo: at}) != nil {
			return
		}
		s.help()
	}
}

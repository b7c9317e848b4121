package hoplite

import (
	"context"
	"errors"
	"iter"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Delete removes an object everywhere. When it returns, no Get that begins finds it, at
// any rank, until somebody puts it again. To delete what does not exist is no error. If
// ctx ends, the object is deleted all the same, a little later.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return &Error{Call: "delete", ID: id, Err: err}
	}
	_, err := s.run(ctx, "delete", id, newCall(func(c *core.Core, call core.CallID) { c.Delete(call, id) }))
	return err
}

// Wait blocks until one of the objects is complete somewhere, and returns its id. It is
// ErrLost if the first of which something is known was lost; the Error names it.
func (s *Store) Wait(ctx context.Context, ids ...string) (string, error) {
	if len(ids) == 0 {
		return "", &Error{Call: "wait", Err: errors.New("no ids; want at least one")}
	}
	for _, id := range ids {
		if err := checkID(id); err != nil {
			return "", &Error{Call: "wait", ID: id, Err: err}
		}
	}
	res, err := s.run(ctx, "wait", "", newCall(func(c *core.Core, call core.CallID) { c.Wait(call, ids) }))
	return res.ID, err
}

// Locations says where the copies of an object are.
type Locations struct {
	// Size is the number of bytes.
	Size int64
	// Ranks have a copy, or a part of one; at most 8 are told of. The first Complete of
	// them have all of it. The caller owns the slice.
	Ranks    []gaspi.Rank
	Complete int
}

// Locations blocks until the object exists and returns where its copies are at that
// moment. It is ErrLost if it existed and no copy is left.
func (s *Store) Locations(ctx context.Context, id string) (Locations, error) {
	if err := checkID(id); err != nil {
		return Locations{}, &Error{Call: "locations", ID: id, Err: err}
	}
	res, err := s.run(ctx, "locations", id, newCall(func(c *core.Core, call core.CallID) { c.Locate(call, id, false) }))
	if err != nil {
		return Locations{}, err
	}
	return s.locations(res), nil
}

func (s *Store) locations(res core.CallResult) Locations {
	l := Locations{Size: res.Size, Complete: res.Complete, Ranks: make([]gaspi.Rank, len(res.Ranks))}
	for i, m := range res.Ranks {
		l.Ranks[i] = s.rankOf(m)
	}
	return l
}

// Watch is Locations again and again: now, if the object exists, and whenever its copies
// have changed since. Of changes in quick succession only the last is told. A loss is an
// error that matches ErrLost and does not end it; the end of ctx or of the store does.
func (s *Store) Watch(ctx context.Context, id string) iter.Seq2[Locations, error] {
	return func(yield func(Locations, error) bool) {
		fail := func(err error) { yield(Locations{}, &Error{Call: "watch", ID: id, Err: err}) }
		if err := checkID(id); err != nil {
			fail(err)
			return
		}
		c := newCall(func(c *core.Core, call core.CallID) { c.Locate(call, id, true) })
		c.events, c.latest = make(chan callEvent, 1), true
		if err := s.inbox.put(submission{what: begin, call: c}); err != nil {
			fail(err)
			return
		}
		s.help()
		defer func() {
			if s.inbox.put(submission{what: cancel, call: c}) == nil {
				s.help()
			}
		}()
		for {
			select {
			case <-ctx.Done():
				fail(ctx.Err())
				return
			case e := <-c.events:
				if !s.tellWatcher(id, e, yield) {
					return
				}
			}
		}
	}
}

// tellWatcher passes an event on and reports whether there may be another.
func (s *Store) tellWatcher(id string, e callEvent, yield func(Locations, error) bool) bool {
	err := e.err
	if err == nil {
		err = causeOf(e.res.Code)
	}
	if err != nil {
		return yield(Locations{}, &Error{Call: "watch", ID: id, Err: err}) && errors.Is(err, ErrLost)
	}
	return yield(s.locations(e.res), nil)
}

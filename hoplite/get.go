package hoplite

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Get returns a copy of the object, which it waits for and brings to this rank's store if
// need be. It returns ErrLost if the object existed and no copy is left, ErrDeleted if it
// was deleted while its bytes were awaited, ErrFull if there is no room for it here, and
// ErrMismatch if it is no whole number of elements.
func Get[T any](ctx context.Context, s *Store, id string) ([]T, error) {
	var data []T
	_, err := getCopy[T](ctx, s, id, func(count int) ([]T, error) {
		if count != len(data) {
			data = make([]T, count)
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// GetInto is Get into memory of the caller: it returns how many elements it has stored at
// the beginning of dst. An object that is longer is ErrMismatch. After an error the content
// of dst is undefined.
func GetInto[T any](ctx context.Context, s *Store, id string, dst []T) (int, error) {
	return getCopy[T](ctx, s, id, func(count int) ([]T, error) {
		if count > len(dst) {
			return nil, fmt.Errorf("%w: it has %d elements, there is room for %d", ErrMismatch, count, len(dst))
		}
		return dst[:count], nil
	})
}

// getCopy copies an object to what place gives for its number of elements, which it
// returns.
func getCopy[T any](ctx context.Context, s *Store, id string, place func(count int) ([]T, error)) (int, error) {
	if err := checkGet[T](id); err != nil {
		return 0, err
	}
	count := 0
	c := newGet(id)
	c.room = func(size int64) ([]byte, error) {
		var err error
		if count, err = countOf[T](size); err != nil {
			return nil, err
		}
		dst, err := place(count)
		return reduce.BytesOf(dst), err
	}
	res, err := s.run(ctx, "get", id, c)
	if err != nil {
		return 0, err
	}
	if err := s.copyOut(c, res); err != nil {
		return 0, &Error{Call: "get", ID: id, Err: err}
	}
	return count, nil
}

// checkGet says what is wrong with the arguments of a Get, or nil.
func checkGet[T any](id string) error {
	err := elements[T]()
	if err == nil {
		err = checkID(id)
	}
	if err != nil {
		return &Error{Call: "get", ID: id, Err: err}
	}
	return nil
}

// countOf is how many elements an object of size bytes has.
func countOf[T any](size int64) (int, error) {
	t := reflect.TypeFor[T]()
	if size%int64(t.Size()) != 0 {
		return 0, fmt.Errorf("%w: it has %d bytes, which is no whole number of %v", ErrMismatch, size, t)
	}
	return int(size / int64(t.Size())), nil
}

func newGet(id string) *openCall {
	c := newCall(func(c *core.Core, call core.CallID) { c.Get(call, id) })
	c.id = id
	return c
}

// A Ref is an object in the store of this rank, or of another of its host. Its memory is not used for
// anything else until Release, also if the object is deleted meanwhile or the other rank ends.
type Ref[T any] struct {
	store *Store
	ref   uint64       // 0: the bytes are not in a store
	at    segment.Span // keeps the memory of another rank mapped
	data  []T
	done  atomic.Bool
}

// GetReadOnly is Get without a copy: it returns the object where it lies. If a rank that shares memory with this one has
// put or made it, that is in the store of that rank: then it takes no room here, and this rank has no copy by
// which the object would survive the other's death. To read an object again and again, keep the Ref: each call asks
// that rank. Nobody may change what the Ref shows. Until it is released it takes room that others may wait for.
func GetReadOnly[T any](ctx context.Context, s *Store, id string) (*Ref[T], error) {
	if err := checkGet[T](id); err != nil {
		return nil, err
	}
	res, bytes, at, err := s.getNear(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &Ref[T]{store: s, ref: res.Ref, at: at}
	if _, err := countOf[T](res.Size); err != nil {
		r.Release()
		return nil, &Error{Call: "get", ID: id, Err: err}
	}
	if len(bytes) > 0 {
		r.data = reduce.Of[T](bytes)
	}
	return r, nil
}

// getNear gets an object that is read where it lies: its bytes, and the span of them if they are in the store of
// another rank.
func (s *Store) getNear(ctx context.Context, id string) (core.CallResult, []byte, segment.Span, error) {
	res, err := s.run(ctx, "get", id, newCall(func(c *core.Core, call core.CallID) { c.GetNear(call, id) }))
	if err == nil && res.Held && int(res.At) != s.me {
		at := s.lay.objects() + uint64(res.Off)
		if span, mapped := s.seg.Mapped(s.peers[res.At].rank, at, uint64(res.Size)); mapped {
			return res, span.Bytes(), span, nil
		}
		s.letGo(res.Ref) // that rank has ended since
		res, err = s.run(ctx, "get", id, newGet(id))
	}
	if err != nil {
		return core.CallResult{}, nil, segment.Span{}, err
	}
	return res, s.bytesOf(res), segment.Span{}, nil
}

// bytesOf is the object that a Get has brought.
func (s *Store) bytesOf(res core.CallResult) []byte {
	if res.Held {
		return s.at(res.Off, res.Size)
	}
	return res.Data
}

// Data is the object. It must not be used after Release, or after the store was closed.
func (r *Ref[T]) Data() []T { return r.data }

// Release gives the memory back. Calling it again does nothing.
func (r *Ref[T]) Release() {
	if r.done.Swap(true) {
		return
	}
	r.data, r.at = nil, segment.Span{}
	r.store.letGo(r.ref)
}

// letGo gives up a reference; 0 is none.
func (s *Store) letGo(ref uint64) {
	if ref != 0 && s.inbox.put(submission{what: released, number: ref}) == nil {
		s.help()
	}
}

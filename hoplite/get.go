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
	r, err := GetReadOnly[T](ctx, s, id)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	if r.ref == 0 && r.own {
		return r.data, nil
	}
	data := make([]T, len(r.data))
	segment.Copy(reduce.BytesOf(data), reduce.BytesOf(r.data))
	return data, nil
}

// GetInto is Get into memory of the caller: it returns how many elements it has stored at
// the beginning of dst. An object that is longer is ErrMismatch. After an error the content
// of dst is undefined.
func GetInto[T any](ctx context.Context, s *Store, id string, dst []T) (int, error) {
	r, err := GetReadOnly[T](ctx, s, id)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	if len(r.data) > len(dst) {
		return 0, &Error{Call: "get", ID: id, Err: fmt.Errorf("%w: it has %d elements, there is room for %d", ErrMismatch, len(r.data), len(dst))}
	}
	segment.Copy(reduce.BytesOf(dst[:len(r.data)]), reduce.BytesOf(r.data))
	return len(r.data), nil
}

// A Ref is an object in this rank's store. Its memory is not used for anything else until
// Release, also if the object is deleted meanwhile.
type Ref[T any] struct {
	store *Store
	ref   uint64 // 0: the bytes are not in the store
	own   bool   // nobody else sees the bytes
	data  []T
	done  atomic.Bool
}

// GetReadOnly is Get without a copy: it returns the object where it lies. Nobody may
// change what the Ref shows. Until it is released it takes room that others may wait for.
func GetReadOnly[T any](ctx context.Context, s *Store, id string) (*Ref[T], error) {
	err := elements[T]()
	if err == nil {
		err = checkID(id)
	}
	if err != nil {
		return nil, &Error{Call: "get", ID: id, Err: err}
	}
	res, err := s.run(ctx, "get", id, newCall(func(c *core.Core, call core.Call) { c.Get(call, id) }))
	if err != nil {
		return nil, err
	}
	r := &Ref[T]{store: s, ref: res.Ref}
	bytes := res.Data
	if res.Held {
		bytes = s.at(res.Off, res.Size)
	}
	if size := int64(reflect.TypeFor[T]().Size()); res.Size%size != 0 {
		r.Release()
		return nil, &Error{Call: "get", ID: id, Err: fmt.Errorf("%w: it has %d bytes, which is no whole number of %v", ErrMismatch, res.Size, reflect.TypeFor[T]())}
	}
	if len(bytes) > 0 {
		r.data = reduce.Of[T](bytes)
	}
	return r, nil
}

// Data is the object. It must not be used after Release, or after the store was closed.
func (r *Ref[T]) Data() []T { return r.data }

// Release gives the memory back. Calling it again does nothing.
func (r *Ref[T]) Release() {
	if r.done.Swap(true) || r.ref == 0 {
		return
	}
	r.data = nil
	r.store.release1(r.ref)
}

// release1 gives up a reference.
func (s *Store) release1(ref uint64) {
	if s.inbox.put(request{what: released, number: ref}) == nil {
		s.help()
	}
}

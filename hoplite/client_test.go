package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/hoplite"
)

// A client makes random calls, checks what they return and records them. Objects of a
// family have the same size. Those that somebody puts are numbers of one tag; the sum of k
// of them is again recognisable: element i is T<<32 + k*i with one T.
type client struct {
	store  *hoplite.Store
	rec    *recorder
	rng    *rand.Rand
	number int
	puts   int
}

const sourcesPerFamily = 3

func sourceID(family, i int) string { return fmt.Sprintf("f%d source %d", family, i) }

// targetID is the id of sums of k sources.
func targetID(family, k int) string { return fmt.Sprintf("f%d sum of %d", family, k) }

func everyID() []string {
	var ids []string
	for f := range sizes {
		for i := range sourcesPerFamily {
			ids = append(ids, sourceID(f, i), targetID(f, i+1))
		}
	}
	return ids
}

// call makes one call. It returns an error only if the store did wrong.
func (c *client) call(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	family := c.rng.IntN(len(sizes))
	k := 1 + c.rng.IntN(sourcesPerFamily)
	source := sourceID(family, k-1)
	switch v := c.rng.IntN(20); {
	case v < 7:
		return c.put(ctx, family, source)
	case v < 12:
		return c.get(ctx, family, source, 1)
	case v < 14:
		return c.get(ctx, family, targetID(family, k), k)
	case v < 16:
		id := source
		if v == 15 {
			id = targetID(family, k)
		}
		return c.record(operation{Verb: "delete", ID: id}, func() (string, error) { return "", c.store.Delete(ctx, id) })
	case v < 18:
		return c.reduce(ctx, family, k)
	case v < 19:
		_, err := c.store.Wait(ctx, source, targetID(family, k))
		return c.judge(err)
	}
	_, err := c.store.Locations(ctx, source)
	return c.judge(err)
}

// put puts an object of a new tag, or of a fixed one where nobody would see that the
// content differs.
func (c *client) put(ctx context.Context, family int, id string) error {
	tag := 1
	if int64(8*sizes[family]) <= mortalConfig().Chunk {
		c.puts++
		tag = c.number<<16 + c.puts
	}
	data := numbers(tag, sizes[family])
	return c.record(operation{Verb: "put", ID: id, Value: valueOf(data)}, func() (string, error) {
		return valueOf(data), hoplite.Put(ctx, c.store, id, data)
	})
}

// get gets an object that is a sum of k.
func (c *client) get(ctx context.Context, family int, id string, k int) error {
	return c.record(operation{Verb: "get", ID: id}, func() (string, error) {
		got, err := hoplite.Get[int64](ctx, c.store, id)
		if err != nil {
			return "", err
		}
		if len(got) != sizes[family] {
			return "", fmt.Errorf("%w: %s has %d elements", errWrong, id, len(got))
		}
		for i, x := range got {
			if x != got[0]+int64(k)*int64(i) {
				return "", fmt.Errorf("%w: element %d of %s is %#x, but the first is %#x: not a sum of %d", errWrong, i, id, x, got[0], k)
			}
		}
		return valueOf(got), nil
	})
}

func (c *client) reduce(ctx context.Context, family, k int) error {
	var ids []string
	for i := range sourcesPerFamily {
		ids = append(ids, sourceID(family, i))
	}
	return c.record(operation{Verb: "reduce", ID: targetID(family, k)}, func() (string, error) {
		used, err := hoplite.ReduceFirst[int64](ctx, c.store, targetID(family, k), ids, k, hoplite.Sum)
		if err == nil && len(used) != k {
			err = fmt.Errorf("%w: a sum of %d of %v", errWrong, k, used)
		}
		return unknown, err
	})
}

// errWrong says that the store did what it must not.
var errWrong = errors.New("the store did wrong")

// judge returns err if it is no answer that a call may give.
func (c *client) judge(err error) error {
	for _, fine := range []error{
		nil, hoplite.ErrExists, hoplite.ErrLost, hoplite.ErrDeleted, hoplite.ErrFull, context.DeadlineExceeded,
	} {
		if errors.Is(err, fine) {
			return nil
		}
	}
	return fmt.Errorf("client %d: %w", c.number, err)
}

// record makes a call between two lines of the history.
func (c *client) record(op operation, do func() (string, error)) error {
	op.Client = c.number
	end := c.rec.begin(op)
	value, err := do()
	end(value, err)
	return c.judge(err)
}

// valueOf stands for a whole object.
func valueOf(xs []int64) string {
	if len(xs) < 2 {
		return fmt.Sprint(xs)
	}
	return fmt.Sprintf("%d x %#x + %d", len(xs), xs[0], xs[1]-xs[0])
}

package hoplite

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// Element is what reductions can combine: integers of every size, float32, float64,
// Float16, BFloat16, complex numbers, and Loc.
type Element = datatype.Element

// Float16 is an IEEE 754 binary16 number.
type Float16 = datatype.Float16

// BFloat16 is the upper half of a float32.
type BFloat16 = datatype.BFloat16

// A Loc is a value and where it is, for MinLoc and MaxLoc.
type Loc[V datatype.LocValue] = datatype.Loc[V]

// Op is an operation on elements. All are commutative. The order in which contributions
// are combined is that of their arrival, so that sums of floating-point numbers may differ
// in the last bits from one time to the next.
type Op = datatype.Op

// The operations. And, Or and Xor are for integers, MinLoc and MaxLoc for Loc;
// complex numbers have Sum and Prod.
const (
	Sum    = datatype.Sum
	Prod   = datatype.Prod
	Min    = datatype.Min
	Max    = datatype.Max
	And    = datatype.And
	Or     = datatype.Or
	Xor    = datatype.Xor
	MinLoc = datatype.MinLoc
	MaxLoc = datatype.MaxLoc
)

// Reduce combines the objects ids, none of which need exist yet, element by element into a
// new object target, which lies at this rank until Delete. Others may get it from when
// it begins to be made. It returns ids.
//
// Errors are ErrMismatch if the sources have not all the same size, or not a whole number
// of elements; ErrExists if the target exists; ErrLost if a source was lost; ErrFull if a
// rank has no room; ErrDeleted if the target was deleted meanwhile. The Error names the
// object that was the cause. If it failed, or ctx ended, there is no target.
func Reduce[T Element](ctx context.Context, s *Store, target string, ids []string, op Op) ([]string, error) {
	return ReduceFirst[T](ctx, s, target, ids, len(ids), op)
}

// ReduceFirst is Reduce of the first k of ids that are complete. It returns which were
// used, in the order of ids. It is ErrLost if too many were lost.
func ReduceFirst[T Element](ctx context.Context, s *Store, target string, ids []string, k int, op Op) ([]string, error) {
	code, err := reduce.CodeOf[T](op)
	if err == nil {
		err = checkSources(target, ids, k)
	}
	if err != nil {
		return nil, &Error{Call: "reduce", ID: target, Err: err}
	}
	c := newCall(func(c *core.Core, call core.CallID) { c.Reduce(call, target, ids, k, uint32(code)) })
	res, err := s.run(ctx, "reduce", target, c)
	if err != nil {
		return nil, err
	}
	s.letGo(res.Ref)
	if t := reflect.TypeFor[T](); res.Size%int64(t.Size()) != 0 {
		if err := s.Delete(ctx, target); err != nil {
			return nil, err
		}
		return nil, &Error{Call: "reduce", ID: target, Err: fmt.Errorf("%w: the sources have %d bytes, which is no whole number of %v", ErrMismatch, res.Size, t)}
	}
	used := make([]string, len(res.Used))
	for i, at := range res.Used {
		used[i] = ids[at]
	}
	return used, nil
}

// checkSources says what is wrong with the ids of a reduction, or nil.
func checkSources(target string, ids []string, k int) error {
	if err := checkID(target); err != nil {
		return err
	}
	if k < 1 || k > len(ids) {
		return fmt.Errorf("%d of %d sources; want at least one, and no more than there are", k, len(ids))
	}
	seen := map[string]bool{target: true}
	for _, id := range ids {
		if err := checkID(id); err != nil {
			return err
		}
		if seen[id] {
			return fmt.Errorf("%.64q is named twice among the target and its sources", id)
		}
		seen[id] = true
	}
	return nil
}

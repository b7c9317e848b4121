package ssp

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// arguments are what all members must pass alike to New.
type arguments struct {
	n, slack int
	op       Op
	kind     reflect.Kind
	segment  int64 // -1: any
}

// check returns an error for arguments that make no sense.
func check[T gaspi.Number](a arguments, cfg gaspi.Config) error {
	longest := int64((cfg.TransferMax - min(cfg.TransferMax, headerSize)) / uint64(reflect.TypeFor[T]().Size()))
	switch {
	case a.n < 1 || int64(a.n) > longest:
		return fmt.Errorf("%w: vectors of %d elements; want 1 to %d, because Config.TransferMax is %d bytes",
			gaspi.ErrOutOfRange, a.n, longest, cfg.TransferMax)
	case a.slack < 0:
		return fmt.Errorf("%w: slack %d; want 0, which means exact, or more", gaspi.ErrOutOfRange, a.slack)
	case !reduce.Supports[T](a.op):
		return fmt.Errorf("%w: %v is not defined for elements of type %v", gaspi.ErrOutOfRange, a.op, a.kind)
	case a.segment >= int64(cfg.Segments):
		return fmt.Errorf("%w: segment %d; ids go from 0 to %d, because Config.Segments is %d",
			gaspi.ErrOutOfRange, a.segment, cfg.Segments-1, cfg.Segments)
	}
	return nil
}

// settleArguments makes sure that all members pass the same arguments and that nobody's are
// wrong. Otherwise all get an error, instead of waiting for each other.
func settleArguments(ctx context.Context, g *gaspi.Group, a arguments, wrong error) error {
	fields := []struct {
		value  int64
		format func(v int64) string
	}{
		{int64(a.n), func(v int64) string { return fmt.Sprintf("%d elements", v) }},
		{int64(a.slack), func(v int64) string { return fmt.Sprintf("slack %d", v) }},
		{int64(a.op), func(v int64) string { return fmt.Sprintf("operation %v", Op(v)) }},
		{int64(a.kind), func(v int64) string { return fmt.Sprintf("elements of type %v", reflect.Kind(v)) }},
		{a.segment, func(v int64) string { return fmt.Sprintf("segment %d (-1 is any)", v) }},
	}
	votes := make([]int64, 1, 1+2*len(fields)) // one for verdict; of each field the highest and the lowest
	for _, f := range fields {
		votes = append(votes, f.value, ^f.value)
	}
	if err := agree.Verdict(ctx, g, votes, wrong); err != nil {
		return err
	}
	for i, f := range fields {
		highest, lowest := votes[1+2*i], ^votes[2+2*i]
		if lowest != highest {
			return fmt.Errorf("%w: some passed %s, others %s", gaspi.ErrMismatch, f.format(lowest), f.format(highest))
		}
	}
	return nil
}

package faults

import (
	"context"

	"github.com/gaspi-go/gaspi-go/ssp"
)

func sspRows() []row {
	reduction := func(slack int) func(context.Context, *member) (step, error) {
		return func(ctx context.Context, m *member) (step, error) {
			r, err := ssp.New[int64](ctx, m.group, m.count, ssp.Sum, slack)
			mine := make([]int64, m.count)
			m.end = func(ctx context.Context, _ int) error { return r.Close(ctx) }
			return func(ctx context.Context, _ int) error {
				_, err := r.AllReduce(ctx, mine)
				return err
			}, err
		}
	}
	return []row{
		{call: "ssp.New", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			r, err := ssp.New[int64](ctx, m.group, m.count, ssp.Sum, m.shift)
			if err != nil {
				return err
			}
			return r.Close(ctx)
		})},
		{call: "ssp.Reduction.AllReduce", way: "exact", needs: needsTeam, open: reduction(0)},
		{call: "ssp.Reduction.AllReduce", way: "slack 2", needs: needsTeam, open: reduction(2)},
		{call: "ssp.Reduction.Close", needs: needsTeam, once: true, open: func(ctx context.Context, m *member) (step, error) {
			r, err := ssp.New[int64](ctx, m.group, m.count, ssp.Sum, m.shift%3)
			if err == nil && m.shift%2 == 1 {
				_, err = r.AllReduce(ctx, make([]int64, m.count))
			}
			return func(ctx context.Context, _ int) error { return r.Close(ctx) }, err
		}},
	}
}

package main

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: each way to do a call on vectors of a rank's own gives the right result, not
// only the fastest, which is the one that --verify sees: call after call, after
// calls of other ways, in one round, in some, and in more than have boxes.
func TestWaysOnPlainVectors(t *testing.T) {
	for _, op := range collectiveOperations() {
		for _, ranks := range []int{1, 2, 3} {
			if ranks < op.minRanks {
				continue
			}
			for _, args := range extraArgs(operationOf(t, op.name), ranks) {
				t.Run(fmt.Sprintf("%s/%d%v", op.name, ranks, args), func(t *testing.T) {
					args := append([]string{op.name, "--plain", "--transport", "loopback", "-n", strconv.Itoa(ranks)}, args...)
					o, err := parse(args)
					if err != nil {
						t.Fatal(err)
					}
					err = gaspi.Local(t.Context(), ranks, gaspi.Config{Transport: "loopback"}, func(ctx context.Context, p *gaspi.Proc) error {
						return checkWays(ctx, p, o)
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// extraArgs are the flags that change who gives what to whom.
func extraArgs(op schedule.Operation, ranks int) [][]string {
	all := [][]string{nil}
	if op.Rooted() && ranks > 1 {
		all = append(all, []string{"--root", strconv.Itoa(ranks - 1)})
	}
	if op == schedule.Broadcast || op == schedule.Reduce {
		all = append(all, []string{"--threshold", "0.3"})
	}
	return all
}

// checkWays makes calls in all ways and looks at their results.
func checkWays(ctx context.Context, p *gaspi.Proc, o *options) error {
	b := &bench{opts: o, p: p, transport: "loopback", pause: pauser(2, 1, "loopback")}
	var err error
	if b.seg, err = p.CreateSegment(ctx, segmentID, b.outbox()+b.boxBytes()); err != nil {
		return err
	}
	tries := 0
	for _, bytes := range []uint64{1000, 100<<10 + 8} {
		ways, k, err := openWays(ctx, b, bytes)
		if err != nil {
			return err
		}
		for range 2 {
			for i, way := range ways {
				for range 2 {
					tries++
					k.own.fill(tries)
					if err := way(ctx); err != nil {
						return err
					}
					if err := k.own.check(tries); err != nil {
						return fmt.Errorf("%d bytes, way %d: %w", bytes, i, err)
					}
				}
				if err := p.Barrier(ctx, p.World()); err != nil {
					return err
				}
			}
		}
		if err := k.release(ctx); err != nil {
			return err
		}
	}
	return nil
}

func openWays(ctx context.Context, b *bench, bytes uint64) ([]bareCall, *call, error) {
	c := b.opts.collective
	s := c.shape(b.p.Size(), bytes)
	t, err := b.newTeam(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	k, err := c.dtype.open(ctx, t, c, s)
	if err != nil {
		return nil, nil, err
	}
	var fold folds
	if c.what.Reduces() {
		if fold, err = c.dtype.fold(c.op); err != nil {
			return nil, nil, err
		}
	}
	_, ways, err := b.barePlain(ctx, t, s, k, fold)
	if err != nil {
		return nil, nil, err
	}
	release := k.release
	k.release = func(ctx context.Context) error {
		if err := release(ctx); err != nil {
			return err
		}
		return t.Close()
	}
	return ways, k, b.clearBoxes(ctx)
}

package ssp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// TestNewRefuses gives the last rank, or all, arguments that are wrong: every
// rank gets an error, none waits for ever, and the one to blame says why.
func TestNewRefuses(t *testing.T) {
	type args struct {
		n, slack int
		op       ssp.Op
		opts     []ssp.Option
	}
	good := args{n: 4, slack: 1, op: ssp.Sum}
	for _, c := range []struct {
		name string
		args args
		want string
		is   error
	}{
		{"no elements", args{0, 1, ssp.Sum, nil}, "vectors of 0 elements; want 1 to", gaspi.ErrOutOfRange},
		{"too many elements", args{1 << 40, 1, ssp.Sum, nil}, "Config.TransferMax", gaspi.ErrOutOfRange},
		{"negative slack", args{4, -1, ssp.Sum, nil}, "slack -1; want 0", gaspi.ErrOutOfRange},
		{"no such operation", args{4, 1, 99, nil}, "is not defined for elements of type float64", gaspi.ErrOutOfRange},
		{"operation for integers", args{4, 1, gaspi.Xor, nil}, "xor is not defined for elements of type float64", gaspi.ErrOutOfRange},
		{"segment out of range", args{4, 1, ssp.Sum, []ssp.Option{ssp.WithSegment(64)}}, "ids go from 0 to 63", gaspi.ErrOutOfRange},
		{"other length", args{5, 1, ssp.Sum, nil}, "some passed 4 elements, others 5 elements", gaspi.ErrMismatch},
		{"other slack", args{4, 2, ssp.Sum, nil}, "some passed slack 1, others slack 2", gaspi.ErrMismatch},
		{"other operation", args{4, 1, ssp.Max, nil}, "some passed operation sum, others operation max", gaspi.ErrMismatch},
		{"other segment", args{4, 1, ssp.Sum, []ssp.Option{ssp.WithSegment(3)}}, "some passed segment -1 (-1 is any), others segment 3", gaspi.ErrMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
				a := good
				if p.Rank() == 2 {
					a = c.args
				}
				_, err := ssp.New[float64](ctx, p.World(), a.n, a.op, a.slack, a.opts...)
				if err == nil {
					return errors.New("no error")
				}
				if p.Rank() == 2 || c.is == gaspi.ErrMismatch {
					if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
						return fmt.Errorf("got %v, want %v and %q", err, c.is, c.want)
					}
				} else if !strings.Contains(err.Error(), "rank 2") {
					return fmt.Errorf("got %v, which does not name rank 2", err)
				}
				if ids := p.Segments(); len(ids) > 0 {
					return fmt.Errorf("segments %v are left", ids)
				}
				return nil
			})
		})
	}
}

func TestNewRefusesOtherTypes(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		var err error
		if p.Rank() == 0 {
			_, err = ssp.New[int32](ctx, p.World(), 4, ssp.Sum, 0)
		} else {
			_, err = ssp.New[float32](ctx, p.World(), 4, ssp.Sum, 0)
		}
		if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "float32") {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
}

// A failure of one member alone to make memory is an error on all.
func TestNewFailsTogether(t *testing.T) {
	cfg := small
	cfg.Queues, cfg.QueuesMax = 1, 2
	for _, c := range []struct {
		name  string
		spoil func(p *gaspi.Proc) error
		is    error
	}{
		{"the segment is in use", func(p *gaspi.Proc) error { _, err := p.AllocSegment(9, 8); return err }, gaspi.ErrInUse},
		{"no queue is left", func(p *gaspi.Proc) error { _, err := p.CreateQueue(); return err }, gaspi.ErrTooMany},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
				if p.Rank() == 1 {
					if err := c.spoil(p); err != nil {
						return err
					}
				}
				before := p.Segments()
				_, err := ssp.New[int64](ctx, p.World(), 1, ssp.Sum, 0, ssp.WithSegment(9))
				if p.Rank() == 1 && !errors.Is(err, c.is) || p.Rank() != 1 && (err == nil || !strings.Contains(err.Error(), "rank 1")) {
					return fmt.Errorf("got %v", err)
				}
				if !slices.Equal(p.Segments(), before) {
					return fmt.Errorf("segments %v are left, %v were there", p.Segments(), before)
				}
				if p.Rank() == 1 {
					return nil
				}
				q, err := p.CreateQueue() // the one that New took must be free again
				if err != nil {
					return err
				}
				return q.Delete()
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Members find a segment that is free on all of them, whatever each has already.
func TestSegmentIsFreeOnAllMembers(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		for id := range gaspi.SegmentID(63) { // each rank leaves only one of two free, and 5
			if id != 5 && (id%3 == gaspi.SegmentID(p.Rank()) || id > 60) {
				if _, err := p.AllocSegment(id, 8); err != nil {
					return err
				}
			}
		}
		before := p.Segments()
		for _, want := range []gaspi.SegmentID{63, 5} {
			if _, err := ssp.New[int64](ctx, p.World(), 1, ssp.Sum, 0); err != nil {
				return err
			}
			if added := slices.DeleteFunc(p.Segments(), func(id gaspi.SegmentID) bool { return slices.Contains(before, id) }); !slices.Contains(added, want) {
				return fmt.Errorf("got segment %v, want %d", added, want)
			}
		}
		_, err := ssp.New[int64](ctx, p.World(), 1, ssp.Sum, 0)
		if !errors.Is(err, gaspi.ErrTooMany) {
			return fmt.Errorf("no segment is free: got %v, want ErrTooMany", err)
		}
		return p.Barrier(ctx, p.World())
	})
}

// Several reductions, of different types, groups and slacks, live at a time and
// do not disturb each other.
func TestSeveralReductionsAtATime(t *testing.T) {
	const ranks = 5
	ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
		same := []gaspi.Rank{}
		for r := p.Rank() % 2; r < ranks; r += 2 {
			same = append(same, r)
		}
		g, err := p.NewGroup(same...)
		if err != nil {
			return err
		}
		if err := g.Commit(ctx); err != nil {
			return err
		}
		all, err := ssp.New[int64](ctx, p.World(), 2*ranks, ssp.Sum, 1, ssp.WithSegment(7))
		if err != nil {
			return err
		}
		some, err := ssp.New[float32](ctx, g, 1, ssp.Max, 0)
		if err != nil {
			return err
		}
		mine := make([]int64, 2*ranks)
		for clock := int64(1); clock <= 20; clock++ {
			tag(mine, ranks, p.Rank(), clock)
			res, err := all.AllReduce(ctx, mine)
			if err == nil {
				err = checkResult(res, ranks, p.Rank(), clock, 1)
			}
			if err != nil {
				return err
			}
			top, err := some.AllReduce(ctx, []float32{float32(p.Rank())})
			if err != nil {
				return err
			}
			if want := float32(same[len(same)-1]); top.Values[0] != want {
				return fmt.Errorf("the highest rank of the group is %v, want %v", top.Values[0], want)
			}
		}
		if err := some.Close(ctx); err != nil {
			return err
		}
		return all.Close(ctx)
	})
}

func TestNewRefusesOutsiders(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		g, err := p.NewGroup(1 - p.Rank())
		if err != nil {
			return err
		}
		if _, err := ssp.New[int64](ctx, g, 1, ssp.Sum, 0); !errors.Is(err, gaspi.ErrBadRank) {
			return fmt.Errorf("got %v, want ErrBadRank", err)
		}
		return nil
	})
}

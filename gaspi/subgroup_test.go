package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// inOppositeOrder calls make for 0 and 1 in two goroutines, for 1 first where the rank is odd,
// and then reduces over the groups that it has returned. All ranks call it for 1 at a time.
func inOppositeOrder(ctx context.Context, p *gaspi.Proc, make func(i int) (*gaspi.Group, error)) error {
	var both sync.WaitGroup
	var failed [2]error
	for i := range failed {
		both.Go(func() {
			seconds := 1
			if i == 0 {
				seconds = int(p.Rank()) % 2 * 2
			}
			time.Sleep(time.Duration(seconds) * time.Second) // sleep: in a bubble, until all others sleep
			failed[i] = func() error {
				g, err := make(i)
				if err != nil {
					return err
				}
				x := []int64{int64(1 + 10*i)}
				if err := gaspi.AllReduce(ctx, g, x, x, gaspi.Sum); err != nil {
					return err
				}
				if want := int64(p.Size() * (1 + 10*i)); x[0] != want {
					return fmt.Errorf("the sum over group %d is %d, want %d", i, x[0], want)
				}
				return nil
			}()
		})
	}
	both.Wait()
	return errors.Join(failed[:]...)
}

// Goal: groups of equal ranks that are made from others are matched by these and by their tag.
func TestGASPISubgroupOfEqualRanks(t *testing.T) {
	committed := func(ctx context.Context, g *gaspi.Group, err error) (*gaspi.Group, error) {
		if err != nil {
			return nil, err
		}
		return g, g.Commit(ctx)
	}
	for _, c := range []struct {
		name string
		make func(ctx context.Context, p *gaspi.Proc, from [2]*gaspi.Group, i int) (*gaspi.Group, error)
	}{
		{"of two groups", func(ctx context.Context, p *gaspi.Proc, from [2]*gaspi.Group, i int) (*gaspi.Group, error) {
			g, err := from[i].Subgroup(5, 0, 1, 2)
			return committed(ctx, g, err)
		}},
		{"with two tags", func(ctx context.Context, p *gaspi.Proc, from [2]*gaspi.Group, i int) (*gaspi.Group, error) {
			g, err := from[0].Subgroup(gaspi.Tag(i), 0, 1, 2)
			return committed(ctx, g, err)
		}},
		{"beside one of the program", func(ctx context.Context, p *gaspi.Proc, from [2]*gaspi.Group, i int) (*gaspi.Group, error) {
			if i == 0 {
				g, err := p.NewGroup(0, 1, 2)
				return committed(ctx, g, err)
			}
			g, err := p.World().Subgroup(0, 0, 1, 2)
			return committed(ctx, g, err)
		}},
		{"shrunk, beside one of the program", func(ctx context.Context, p *gaspi.Proc, from [2]*gaspi.Group, i int) (*gaspi.Group, error) {
			if i == 0 {
				g, err := p.NewGroup(0, 1, 2)
				return committed(ctx, g, err)
			}
			return from[1].Shrink(ctx)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
				from := [2]*gaspi.Group{must(p.World().Dup(ctx, 0)), must(p.World().Dup(ctx, 1))}
				return inOppositeOrder(ctx, p, func(i int) (*gaspi.Group, error) { return c.make(ctx, p, from, i) })
			})
		})
	}
}

// Goal: a Commit that has ended early blocks none of another scope, though its group stays.
func TestSubgroupBesideACommitThatEndedEarly(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		for tag := range gaspi.Tag(3) {
			g := must(p.World().Subgroup(tag, 0, 1))
			if tag < 2 && p.Rank() == gaspi.Rank(tag) {
				limited, cancel := soon(ctx)
				err := g.Commit(limited)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("commit alone: %v", err)
				}
			}
			if tag == 2 {
				ok(g.Commit(ctx))
				return p.Barrier(ctx, g)
			}
		}
		return nil
	})
}

func TestSubgroupRefuses(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 2 {
			return nil
		}
		g := must(p.NewGroup(0, 1))
		if _, err := g.Subgroup(0, 0); err == nil {
			return errors.New("a group that is not committed has a subgroup")
		}
		ok(g.Commit(ctx))
		for name, c := range map[string]struct {
			make func() (*gaspi.Group, error)
			want error
		}{
			"a rank of no member": {func() (*gaspi.Group, error) { return g.Subgroup(0, 0, 2) }, gaspi.ErrBadRank},
			"a rank twice":        {func() (*gaspi.Group, error) { return g.Subgroup(0, 0, 0) }, gaspi.ErrInUse},
			"a tag too large":     {func() (*gaspi.Group, error) { return g.Subgroup(1<<28, 0) }, gaspi.ErrOutOfRange},
		} {
			if sub, err := c.make(); sub != nil || !errors.Is(err, c.want) {
				return fmt.Errorf("%s: %v, %v, want %v", name, sub, err, c.want)
			}
		}
		return p.Barrier(ctx, g)
	})
}

// Goal: a group that is revoked alone does not end with the others that it ended with.
func TestRevokeAlone(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		other := must(p.World().Dup(ctx, 0))
		g := must(p.World().Dup(ctx, 1))
		ok(g.RevokeWith(other))
		g.RevokeAlone()
		ok(p.Barrier(ctx, p.World()))
		ok(other.Revoke(nil))
		return p.Barrier(ctx, g)
	})
}

package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// A made is an object of all members of a group: a call in which each needs all others, and the end.
type made struct {
	use, close func(ctx context.Context) error
}

// makers are the calls that make an object of the members of a group.
var makers = map[string]func(ctx context.Context, g *gaspi.Group) (made, error){
	"collectives.NewTeam": func(ctx context.Context, g *gaspi.Group) (made, error) {
		t, err := collectives.NewTeam(ctx, g, collectives.Config{})
		return made{
			func(ctx context.Context) error {
				return collectives.AllReduce(ctx, t, make([]int64, 8), collectives.Sum)
			},
			func(context.Context) error { return t.Close() },
		}, err
	},
	"ssp.New": func(ctx context.Context, g *gaspi.Group) (made, error) { return makeReduction(ctx, g) },
	"ssp.New with a segment": func(ctx context.Context, g *gaspi.Group) (made, error) {
		return makeReduction(ctx, g, ssp.WithSegment(3))
	},
	"hoplite.Open": func(ctx context.Context, g *gaspi.Group) (made, error) {
		return makeStore(ctx, g, storeConfig())
	},
	"hoplite.Open that measures": func(ctx context.Context, g *gaspi.Group) (made, error) {
		return makeStore(ctx, g, hoplite.Config{Capacity: 1 << 17})
	},
}

func makeReduction(ctx context.Context, g *gaspi.Group, opts ...ssp.Option) (made, error) {
	r, err := ssp.New[int64](ctx, g, 8, ssp.Sum, 0, opts...)
	return made{
		func(ctx context.Context) error { _, err := r.AllReduce(ctx, make([]int64, 8)); return err },
		func(ctx context.Context) error { return r.Close(ctx) },
	}, err
}

func makeStore(ctx context.Context, g *gaspi.Group, cfg hoplite.Config) (made, error) {
	s, err := hoplite.Open(ctx, g, cfg)
	use := func(ctx context.Context) error {
		id := func(r gaspi.Rank) string { return fmt.Sprint("of ", r) }
		if err := hoplite.Put(ctx, s, id(g.Proc().Rank()), make([]int64, 8)); err != nil {
			return err
		}
		for _, r := range g.Ranks() {
			if _, err := hoplite.Get[int64](ctx, s, id(r)); err != nil {
				return err
			}
		}
		return nil
	}
	return made{use, func(ctx context.Context) error { return s.Close(ctx) }}, err
}

// inMaking runs step for looks 1, 2, ... with a group of three ranks that is new each time, until
// it reports that the call was not cut.
func inMaking(t *testing.T, step func(ctx context.Context, g *gaspi.Group, looks int) (cut bool, err error)) {
	synctest.Test(t, func(t *testing.T) {
		cfg := gaspi.Config{Spin: -1, Yield: -1, Groups: 512}
		err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			for looks := 1; ; looks++ {
				before := len(p.Segments())
				g, err := p.World().Dup(ctx, 0)
				if err != nil {
					return err
				}
				cut, err := step(ctx, g, looks)
				if err != nil {
					return fmt.Errorf("look %d: %w", looks, err)
				}
				if err := p.Barrier(ctx, p.World()); err != nil {
					return err
				}
				if !cut {
					return nil
				}
				if now := len(p.Segments()); now != before {
					return fmt.Errorf("look %d: the rank has %d segments, %d before", looks, now, before)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestMakingIsResumed has the context of one member end at each look of a call that makes an object.
// That member makes the call again, and so do those whose calls, or the object, ended with
// ErrRevoked: then all have it.
func TestMakingIsResumed(t *testing.T) {
	for name, create := range makers {
		for cutAt := range gaspi.Rank(3) {
			t.Run(fmt.Sprintf("%s, rank %d", name, cutAt), func(t *testing.T) {
				inMaking(t, func(ctx context.Context, g *gaspi.Group, looks int) (bool, error) {
					limited, wasCut := ctx, int64(0)
					if g.Proc().Rank() == cutAt {
						limited = ranktest.EndAfter(ctx, looks)
					}
					for {
						x, err := create(limited, g)
						limited = ctx
						if err == nil {
							if err = x.use(ctx); err == nil {
								cuts := []int64{wasCut}
								err = gaspi.AllReduce(ctx, g, cuts, cuts, gaspi.Sum)
								return cuts[0] > 0, errors.Join(err, x.close(ctx), g.Delete())
							}
							if !errors.Is(err, gaspi.ErrRevoked) {
								return false, fmt.Errorf("use: %w", err)
							}
							_ = x.close(ctx) // it has failed
						}
						switch {
						case errors.Is(err, context.Canceled) && g.Proc().Rank() == cutAt && wasCut == 0:
							wasCut = 1
						case !errors.Is(err, gaspi.ErrRevoked) || g.Proc().Rank() == cutAt:
							return false, err
						}
					}
				})
			})
		}
	}
}

// TestRevocationEndsMaking has the context of one member end at each look of a call that makes an
// object. That member revokes the group: the call ends with ErrRevoked at all others, or else
// each use of the object does.
func TestRevocationEndsMaking(t *testing.T) {
	for name, create := range makers {
		for cutAt := range gaspi.Rank(3) {
			t.Run(fmt.Sprintf("%s, rank %d", name, cutAt), func(t *testing.T) {
				inMaking(t, func(ctx context.Context, g *gaspi.Group, looks int) (bool, error) {
					return revokedInMaking(ctx, g, create, cutAt, looks)
				})
			})
		}
	}
}

func revokedInMaking(ctx context.Context, g *gaspi.Group, create func(context.Context, *gaspi.Group) (made, error), cutAt gaspi.Rank, looks int) (bool, error) {
	limited, want := ctx, gaspi.ErrRevoked
	if g.Proc().Rank() == cutAt {
		limited, want = ranktest.EndAfter(ctx, looks), context.Canceled
	}
	x, err := create(limited, g)
	if err != nil && !errors.Is(err, want) {
		return false, fmt.Errorf("rank %d: %w", g.Proc().Rank(), err)
	}
	if err != nil && g.Proc().Rank() == cutAt {
		if err := g.Revoke(nil); err != nil {
			return false, err
		}
	}
	flags := uint32(1)
	if err != nil {
		flags = 0
	}
	all, aerr := g.Agree(ctx, flags)
	if aerr != nil {
		return false, aerr
	}
	if err == nil {
		time.Sleep(time.Second) // sleep: in a bubble, until all others sleep
		used := x.use(ctx)
		if all == 0 && !errors.Is(used, gaspi.ErrRevoked) || all == 1 && used != nil {
			return false, fmt.Errorf("rank %d, made at all: %d: use: %w", g.Proc().Rank(), all, used)
		}
		if cerr := x.close(ctx); all == 1 && cerr != nil {
			return false, cerr
		}
	}
	return all == 0, g.Delete()
}

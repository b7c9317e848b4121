package loss

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// Goal: the end of a member is the reason of errors that come of it, and of no others. One that has
// left is not missing.
func TestBlame(t *testing.T) {
	died := errors.New("it died")
	for _, c := range []struct {
		name    string
		end     error // of rank 1
		missing bool
		left    []int
	}{
		{"left", nil, false, []int{0}},
		{"died", died, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := gaspi.Local(t.Context(), 2, gaspi.Config{KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
				seg, err := p.CreateSegment(ctx, gaspi.AnySegment, 64, gaspi.Over(p.World()), gaspi.WithNotifications(1))
				if err != nil {
					return err
				}
				m := Members{Proc: p, Ranks: []gaspi.Rank{1, 0}, Group: p.World(), Control: seg}
				other := errors.New("another error")
				if p.Rank() == 1 {
					if err := m.Blame(other); err != other {
						t.Errorf("Blame of another error: %v", err)
					}
					return c.end
				}
				var ended *gaspi.RankError
				if err := m.Blame(gaspi.ErrNoSegment); !errors.As(err, &ended) || ended.Rank != 1 || ended.Left != (c.end == nil) {
					t.Errorf("Blame after the end of rank 1: %v", err)
				}
				if missing := m.Missing() != nil; missing != c.missing {
					t.Errorf("missing %v, want %v", missing, c.missing)
				}
				// Messages of a member may arrive after its end is known.
				testenv.Eventually(t, "not those that left are told", func() bool { return slices.Equal(m.Left(), c.left) })
				return nil
			})
			if !errors.Is(err, c.end) {
				t.Error(err)
			}
		})
	}
}

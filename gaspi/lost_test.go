package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

// Rank 0 blocks in a call and loses rank 1, which goes on: nobody tells of an end. The
// call ends with an error that names rank 1 and the reason.
func TestLostRankEndsWhatNeedsIt(t *testing.T) {
	for _, c := range needOthers {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
				s := must(p.CreateSegment(ctx, 0, 64))
				if p.Rank() != 0 {
					quiet(ctx) // as long as the end of a rank is waited for
					quiet(ctx)
					return nil
				}
				go func() {
					synctest.Wait()
					p.LoseLink(1, "the link was cut")
				}()
				err := c.call(ctx, p, s)
				if !names(err, 1) || !strings.Contains(err.Error(), "the link was cut") {
					return fmt.Errorf("got %v, want a RankError about rank 1 and its reason", err)
				}
				if d := cmp.Diff([]gaspi.Health{gaspi.Healthy, gaspi.Corrupt, gaspi.Healthy}, p.State()); d != "" {
					return fmt.Errorf("state (-want +got):\n%s", d)
				}
				ok(p.ResetState())
				if why := p.Failure(1); why == nil || why.Rank != 1 || !errors.Is(why, gaspi.ErrRankDead) {
					return fmt.Errorf("failure of rank 1: %v", why)
				}
				if why := p.Failure(2); why != nil {
					return fmt.Errorf("failure of rank 2: %v, want none", why)
				}
				return nil
			})
		})
	}
}

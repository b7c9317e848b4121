package program

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestAgree lets every set of ranks fail: all learn of it, the lowest failing
// rank speaks, and the worst exit code holds for all.
func TestAgree(t *testing.T) {
	const n = 4
	for failing := range 1 << n {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		spoke, codes := make([]bool, n), make([]int, n)
		err := gaspi.Local(ctx, n, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
			var err error
			if failing&(1<<p.Rank()) != 0 {
				err = errors.New("broken")
				if p.Rank() == 3 {
					err = UsageError{err}
				}
			}
			err = Agree(ctx, p, err)
			r, ok := errors.AsType[*refusal](err)
			if ok != (failing != 0) {
				return fmt.Errorf("Agree returns %v", err)
			}
			if ok {
				spoke[p.Rank()], codes[p.Rank()] = r.err != nil, r.code
			}
			return nil
		})
		if err != nil {
			t.Fatalf("failing ranks %04b: %v", failing, err)
		}
		speakers := 0
		for rank := range n {
			if spoke[rank] {
				speakers++
				if failing&(1<<rank-1) != 0 || failing&(1<<rank) == 0 {
					t.Errorf("failing ranks %04b: rank %d speaks", failing, rank)
				}
			}
			if codes[rank] != codes[0] {
				t.Errorf("failing ranks %04b: exit codes %v", failing, codes)
			}
		}
		if failing != 0 && speakers != 1 {
			t.Errorf("failing ranks %04b: %d ranks speak", failing, speakers)
		}
	}
}

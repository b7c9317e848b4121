package limit

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// among has ranks of this process check what they share, as a subtest.
func among(t *testing.T, name string, ranks int, check func(ctx context.Context, b *Memory) error) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		err := gaspi.Local(t.Context(), ranks, gaspi.Config{Transport: "loopback"}, func(ctx context.Context, p *gaspi.Proc) error {
			b, err := Open(ctx, p, 0, "loopback", 1)
			if err != nil {
				return err
			}
			return check(ctx, b)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// checkWays calls each way twice and looks at what arrives here, if anything does.
func checkWays(ctx context.Context, ways []BareCall, own Buffers, arrives bool) error {
	for try := range 2 * len(ways) {
		own.Fill(try)
		if err := ways[try/2](ctx); err != nil {
			return err
		}
		if !arrives {
			continue
		}
		if err := own.Check(try); err != nil {
			return fmt.Errorf("way %d: %w", try/2, err)
		}
	}
	return nil
}

//go:build linux && !portable

package gaspi_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Figures of an emulated network count if the host was able to keep its times.
func ExampleProc_Emulation() {
	cfg := gaspi.Config{Emulate: "latency=100us,bandwidth=150MB/s"}
	err := gaspi.Local(context.Background(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		p.Emulation().Restart()
		for range 10 { // of that which is to be measured
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
		}
		if was := p.Emulation().Punctuality(); p.Rank() == 0 {
			fmt.Println("messages were delivered:", was.Delivered.Events > 0)
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// messages were delivered: true
}

package gaspi_test

import (
	"context"
	"fmt"
	"log"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Two ranks meet as code in another language lets them.
func ExampleBarrierMapping() {
	err := gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		m, ok := p.World().BarrierMapping()
		if !ok {
			return fmt.Errorf("the signals of the barrier cannot be addressed")
		}
		next := m.Number + 1
		m.To[0].Words[0].Store(next) // nobody sleeps
		for int32(m.From[0].Load()-next) < 0 {
			runtime.Gosched()
		}
		m.Passed(next)
		if p.Rank() == 0 {
			fmt.Println("barrier", next)
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: barrier 2
}

package collectives_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// total is the sum of x over all members.
func total[T collectives.Element](ctx context.Context, t *collectives.Team, x T) (T, error) {
	buf := []T{x}
	err := collectives.AllReduce(ctx, t, buf, collectives.Sum)
	return buf[0], err
}

// A function for elements of any type.
func ExampleElement() {
	err := gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		t, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		x, err := total(ctx, t, complex(1, float64(p.Rank())))
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			fmt.Println(x)
		}
		return t.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// (3+3i)
}

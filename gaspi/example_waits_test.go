package gaspi_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A library tells what it waits for, so that gaspi-run ps names its call.
func ExampleLongWait() {
	err := gaspi.Local(context.Background(), 1, gaspi.Config{}, func(_ context.Context, p *gaspi.Proc) error {
		ended := p.TellWait(gaspi.LongWait{Call: "exchange of halos", Detail: "step 2 of 4", From: []gaspi.Rank{0}, Since: time.Now()})
		fmt.Println("it waits")
		ended()
		return nil
	})
	fmt.Println(err)
	// Output:
	// it waits
	// <nil>
}

package emulation_test

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

// A text says which network to emulate.
func ExampleNetwork() {
	network, err := emulation.Parse("latency=100us,bandwidth=150MB/s")
	if err != nil {
		panic(err)
	}
	fmt.Println(network.Latency, network.Bandwidth/1e6, "MB/s")
	// Output:
	// 100µs 150 MB/s
}

// The part of the messages of an emulated network that were delivered too late.
func ExampleLateness() {
	was := emulation.Lateness{Events: 2000, Late: 30}
	fmt.Printf("%.1f %%\n", 100*was.Share())
	// Output:
	// 1.5 %
}

// A run of which too many messages were late does not count.
func ExamplePunctuality() {
	was := emulation.Punctuality{Delivered: emulation.Lateness{Events: 1000, Late: 90, Limit: 25 * time.Microsecond}}
	fmt.Println(was.Valid())
	// Output:
	// false
}

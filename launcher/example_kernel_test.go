package launcher_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A host whose kernel cannot be asked: the job runs all the same.
func ExampleProber() {
	cfg := launcher.Config{Program: "./simulation", Ranks: 4, Measure: true, Probe: func() (launcher.Prober, error) {
		return nil, errors.New("this process may not load programs into the kernel")
	}}
	fmt.Println(cfg.Check())
	// Output: <nil>
}

// How many times a thread waited for a processor for a millisecond or longer.
func ExampleKernelTimes() {
	k := launcher.KernelTimes{Run: []uint64{12: 900, 20: 7, 21: 3}}
	long := uint64(0)
	for n, count := range k.Run {
		if time.Duration(1)<<n >= time.Millisecond {
			long += count
		}
	}
	fmt.Println(long)
	// Output: 10
}

// When a segment of a connection was lost.
func ExampleResend() {
	r := launcher.Resend{At: time.Date(2026, 1, 2, 3, 4, 5, 67e6, time.UTC), Port: 40123}
	fmt.Println(r.At.Format("15:04:05.000"), r.Port)
	// Output: 03:04:05.067 40123
}

package launcher_test

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// The part of its time in which a rank could run that it had no processor, and how many of its segments
// were lost.
func ExampleRankMeasures() {
	m := launcher.RankMeasures{CPU: 300 * time.Millisecond, Delayed: 100 * time.Millisecond, Links: []launcher.RankLink{{Peer: 1, Segments: 1000, Resent: 20}}}
	fmt.Printf("%.0f %% without a processor\n", 100*float64(m.Delayed)/float64(m.CPU+m.Delayed))
	for _, l := range m.Links {
		fmt.Printf("%.0f %% of segments to rank %d sent again\n", 100*float64(l.Resent)/float64(l.Segments), l.Peer)
	}
	// Output:
	// 25 % without a processor
	// 2 % of segments to rank 1 sent again
}

// The shortest and the mean round trip of a link.
func ExampleRankLink() {
	l := launcher.RankLink{Peer: 1, Samples: 20, MinRTT: 40 * time.Microsecond, MeanRTT: 90 * time.Microsecond}
	fmt.Println(l.MinRTT, l.MeanRTT)
	// Output: 40µs 90µs
}

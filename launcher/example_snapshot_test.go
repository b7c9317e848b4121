package launcher_test

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// How many bytes per second ranks moved between two looks at a job.
func ExampleSnapshot() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before := launcher.Snapshot{Ranks: []launcher.RankView{{Rank: 0, Beat: at, Bytes: 1000}}}
	now := launcher.Snapshot{Ranks: []launcher.RankView{{Rank: 0, Beat: at.Add(2 * time.Second), Bytes: 5000}}}
	for i, r := range now.Ranks {
		was := before.Ranks[i]
		fmt.Println(r.Rank, float64(r.Bytes-was.Bytes)/r.Beat.Sub(was.Beat).Seconds())
	}
	// Output: 0 2000
}

// A rank that has waited for a while.
func ExampleRankView() {
	r := launcher.RankView{Rank: 2, Host: "b", State: "waiting", Call: "Segment.WaitSome", Place: "ring/main.go:31", For: 3 * time.Second}
	fmt.Printf("rank %d is %s in %s (%s) for %v\n", r.Rank, r.State, r.Call, r.Place, r.For)
	// Output: rank 2 is waiting in Segment.WaitSome (ring/main.go:31) for 3s
}

package launcher_test

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// How many bytes per second ranks wrote between two looks at a job.
func ExampleJobView() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before := launcher.JobView{Ranks: []launcher.RankActivity{{Rank: 0, Beat: at, Stats: launcher.RankStats{BytesWritten: 1000}}}}
	now := launcher.JobView{Ranks: []launcher.RankActivity{{Rank: 0, Beat: at.Add(2 * time.Second), Stats: launcher.RankStats{BytesWritten: 5000}}}}
	for i, r := range now.Ranks {
		was := before.Ranks[i]
		fmt.Println(r.Rank, float64(r.Stats.BytesWritten-was.Stats.BytesWritten)/r.Beat.Sub(was.Beat).Seconds())
	}
	// Output: 0 2000
}

// A rank that has waited for a while.
func ExampleRankActivity() {
	r := launcher.RankActivity{Rank: 2, Host: "b", State: "waiting", Call: "Segment.WaitSome", Place: "ring/main.go:31", Since: 3 * time.Second}
	fmt.Printf("rank %d is %s in %s (%s) for %v\n", r.Rank, r.State, r.Call, r.Place, r.Since)
	// Output: rank 2 is waiting in Segment.WaitSome (ring/main.go:31) for 3s
}

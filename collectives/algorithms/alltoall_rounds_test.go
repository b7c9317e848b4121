package algorithms

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
)

func TestTournamentPairsAllRanksOnce(t *testing.T) {
	for size := 1; size <= 33; size++ {
		meet := tournament{size}
		met := make(map[[2]int]int)
		for round := range meet.rounds() {
			for rank := range size {
				other, ok := meet.partner(rank, round)
				if !ok {
					if size%2 == 0 {
						t.Fatalf("size %d round %d: rank %d has a rest", size, round, rank)
					}
					continue
				}
				if back, ok := meet.partner(other, round); !ok || back != rank {
					t.Fatalf("size %d round %d: rank %d meets %d, who meets %d", size, round, rank, other, back)
				}
				met[[2]int{rank, other}]++
			}
		}
		for a := range size {
			for b := range size {
				if n := met[[2]int{a, b}]; n != min(1, abs(a-b)) {
					t.Fatalf("size %d: ranks %d and %d meet %d times", size, a, b, n)
				}
			}
		}
	}
}

func TestMovementsSayWhatDoesNotFit(t *testing.T) {
	even, uneven, skew := []int{1, 1, 1, 1}, []int{1, 2, 2, 1}, []int{1, 2, 3, 1}
	for _, test := range []struct {
		name string
		fits func(*schedule.Call) error
		call schedule.Call
		want bool
	}{
		{"in place, of one length", bothWays, schedule.Call{Size: 2, InPlace: true}, true},
		{"in place, as long both ways", bothWays, schedule.Call{Size: 2, InPlace: true, Counts: uneven}, true},
		{"in place, longer one way", bothWays, schedule.Call{Size: 2, InPlace: true, Counts: skew}, false},
		{"longer one way", bothWays, schedule.Call{Size: 2, Counts: skew}, true},
		{"bruck of one length", evenBlocks, schedule.Call{Size: 2}, true},
		{"bruck with counts that are one length", evenBlocks, schedule.Call{Size: 2, Counts: even}, true},
		{"bruck of several lengths", evenBlocks, schedule.Call{Size: 2, Counts: uneven}, false},
		{"exchange", exchangeFits, schedule.Call{Size: 2, Rounds: 31}, true},
		{"exchange in place", exchangeFits, schedule.Call{Size: 2, Rounds: 1, InPlace: true}, false},
		{"exchange of too many rounds", exchangeFits, schedule.Call{Size: 2, Rounds: 32}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.fits(&test.call); (err == nil) != test.want {
				t.Errorf("fits is %v, got %v", test.want, err)
			}
		})
	}
}

package algorithms

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

func TestEachRoundIsAPermutationAndAllMeetOnce(t *testing.T) {
	for p := 1; p <= 33; p++ {
		sent := make(map[[2]int]int)
		for round := 1; round < p; round++ {
			for rank := range p {
				to, from := meets(rank, p, round)
				if _, back := meets(to, p, round); back != rank {
					t.Fatalf("%d ranks, round %d: rank %d sends to %d, which receives from %d", p, round, rank, to, back)
				}
				if next, _ := meets(from, p, round); next != rank {
					t.Fatalf("%d ranks, round %d: rank %d receives from %d, which sends to %d", p, round, rank, from, next)
				}
				sent[[2]int{rank, to}]++
			}
		}
		for a := range p {
			for b := range p {
				if n := sent[[2]int{a, b}]; n != min(1, abs(a-b)) {
					t.Fatalf("%d ranks: rank %d sends to %d in %d rounds", p, a, b, n)
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

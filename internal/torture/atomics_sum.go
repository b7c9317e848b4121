package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// perMember is how many numbers settleAtomics adds up for each member.
const perMember = 8

// settleAtomics adds up what all goroutines of all members have done to the words of each
// member, and compares the own words with it.
func (s *scene) settleAtomics(ctx context.Context, rng *rand.Rand, contenders []*atomicWorker, words []uint64) error {
	n := len(s.members)
	sums := make([]uint64, n*perMember+2*64)
	for _, c := range contenders {
		for m, t := range c.tallies {
			for i, v := range []uint64{t.tickets, t.ticketSum, t.ticketSquares, t.sum, t.swaps, t.chainIn, t.chainOut, t.bit} {
				sums[m*perMember+i] += v
			}
		}
	}
	if err := s.total(ctx, rng, sums); err != nil {
		return err
	}
	mine := sums[s.me*perMember:][:perMember]
	tickets := mine[0]
	want := []uint64{tickets, 0, 0, mine[3], mine[4], 0, 0, mine[7]}
	for k := range tickets {
		want[1], want[2] = want[1]+k, want[2]+k*k
	}
	got := []uint64{words[ticketWord], mine[1], mine[2], words[addWord], words[casWord], 0, 0, words[bitsWord]}
	names := []string{"tickets", "sum of tickets", "sum of their squares", "sum", "successful CompareSwaps", "", "", "bits"}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("member %d: the %s are %#x after calls that, by their answers, make %#x; %d tickets were drawn",
				s.me, names[i], got[i], want[i], tickets)
		}
	}
	// Everything that was ever in the word was returned once, but for what is there now.
	if in, out := mine[5]+mix(0), mine[6]+mix(words[chainWord]); in != out {
		return fmt.Errorf("member %d: values stored by Swap and CompareSwap are not those that were returned, each once, and %#x, which is there now", s.me, words[chainWord])
	}
	return s.settleBits(ctx, rng, contenders, words)
}

// settleBits does the same for words that do not add up: the exclusive or bit by bit, as
// sums whose lowest bits count, and the bounds by what the owners of values say.
func (s *scene) settleBits(ctx context.Context, rng *rand.Rand, contenders []*atomicWorker, words []uint64) error {
	for m := range s.members {
		odd := make([]uint64, 64)
		beyond := make([]uint64, 2)
		for _, c := range contenders {
			for b := range odd {
				odd[b] += c.tallies[m].xor >> b & 1
			}
		}
		if err := s.total(ctx, rng, odd); err != nil {
			return err
		}
		limits := make([]uint64, 2)
		if m == s.me {
			limits[0], limits[1] = words[maxWord], words[minWord]
		}
		if err := s.total(ctx, rng, limits); err != nil {
			return err
		}
		for _, c := range contenders {
			t := c.tallies[m]
			if t.high > limits[0] || t.low < limits[1] {
				beyond[0]++
			}
			if t.high == limits[0] || t.low == limits[1] {
				beyond[1]++
			}
		}
		if err := s.total(ctx, rng, beyond); err != nil {
			return err
		}
		var want uint64
		for b, count := range odd {
			want |= count & 1 << b
		}
		if m == s.me && words[xorWord] != want {
			return fmt.Errorf("member %d: the exclusive or is %#x after calls that, by their answers, make %#x", m, words[xorWord], want)
		}
		if beyond[0] != 0 || beyond[1] == 0 {
			return fmt.Errorf("member %d: greatest %#x and least %#x; %d goroutines know better, and %d know one of these values",
				m, limits[0], limits[1], beyond[0], beyond[1])
		}
	}
	return nil
}

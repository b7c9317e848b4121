package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Each member holds words for every kind of history. All are hit by all members, from
// several goroutines each, with contexts that end early. An error of such a context says
// that nothing was done, unless the outcome is in doubt, which is then waited for; every
// other answer is the word's value just before.
const (
	ticketWord = iota // FetchAdd of 1: the answers are 0, 1, 2 ... without gap or repetition
	addWord           // FetchAdd of anything: the sum
	casWord           // CompareSwap of what was read to one more: the number of successes
	chainWord         // Swap and CompareSwap of values used once: each is returned once
	xorWord           // FetchXor of anything
	maxWord           // FetchMax of values that grow
	minWord           // FetchMin of values that fall
	bitsWord          // FetchOr and FetchAnd: each goroutine sets and clears a bit of its own
	atomicWords
)

// wordTally is what a goroutine knows of the words of one member. Its numbers add up over all
// goroutines of all members to what the word must be.
type wordTally struct {
	tickets, ticketSum, ticketSquares uint64
	sum, swaps, xor                   uint64
	chainIn, chainOut                 uint64 // sums of hashes of what was stored and returned
	lastTicket, high, low             uint64
	bit                               uint64 // whether this goroutine's bit is set
}

// atomicWorker is one goroutine of the family.
type atomicWorker struct {
	*scene
	rng     *rand.Rand
	seg     *gaspi.Segment
	number  uint64 // among all goroutines of all members
	serial  uint64
	tallies []wordTally // by member
}

func atomics(ctx context.Context, s *scene) error {
	rng, n := s.own(), len(s.members)
	threads, steps := 1+s.plan.IntN(4), 20+s.plan.IntN(300)
	shift := 8 * s.plan.IntN(5)
	seg, err := s.create(ctx, rng, s.base, uint64(shift+8*atomicWords), 64, s.plan.IntN(3) == 0)
	if err != nil {
		return err
	}
	words, err := gaspi.View[uint64](seg, uint64(shift), atomicWords)
	if err != nil {
		return err
	}
	words[minWord] = ^uint64(0)
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	contenders := make([]*atomicWorker, threads)
	tasks := make([]func(ctx context.Context) error, threads)
	for i := range contenders {
		c := &atomicWorker{scene: s, rng: s.own(uint64(i)), seg: seg, number: uint64(s.me*threads + i), tallies: make([]wordTally, n)}
		for m := range c.tallies {
			c.tallies[m].low = ^uint64(0)
		}
		contenders[i] = c
		tasks[i] = func(ctx context.Context) error { return c.contend(ctx, uint64(shift), steps) }
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := s.settleAtomics(ctx, rng, contenders, words); err != nil {
		return err
	}
	if err := s.await(ctx, rng, s.p.MustQueue(0)); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	return seg.Delete()
}

// contend does the steps of a goroutine.
func (c *atomicWorker) contend(ctx context.Context, shift uint64, steps int) error {
	for range steps {
		member, kind := c.rng.IntN(len(c.members)), c.rng.IntN(atomicWords)
		at := c.seg.At(c.members[member], shift+uint64(8*kind))
		short, cancel := c.cut(ctx, c.rng, 2+c.rng.IntN(12))
		err := c.one(ctx, short, at, kind, member)
		early := gaveUp(ctx, short, err) // and nothing was done
		cancel()
		if err != nil && !early {
			return fmt.Errorf("goroutine %d, word %d of member %d: %w", c.number, kind, member, err)
		}
		c.did(1)
	}
	return nil
}

// outcome returns the result of an atomic whose context may have ended. If the peer did not
// answer in time, so that the error leaves the operation in doubt, it waits for the answer.
func outcome(ctx context.Context) func(old uint64, err error) (uint64, error) {
	return func(old uint64, err error) (uint64, error) {
		if doubt, is := errors.AsType[*gaspi.InDoubtError](err); is {
			return doubt.Wait(ctx)
		}
		return old, err
	}
}

// one does an atomic on a word, until short ends, and compares its answer with what this
// goroutine knows.
func (c *atomicWorker) one(ctx, short context.Context, at gaspi.Remote, kind, member int) error {
	t := &c.tallies[member]
	switch kind {
	case ticketWord:
		return c.ticket(ctx, short, at, t, member)
	case addWord:
		v := c.rng.Uint64()
		_, err := outcome(ctx)(c.p.FetchAdd(short, at, v))
		if err == nil {
			t.sum += v
		}
		return err
	case xorWord:
		v := c.rng.Uint64()
		_, err := outcome(ctx)(c.p.FetchXor(short, at, v))
		if err == nil {
			t.xor ^= v
		}
		return err
	case casWord:
		return c.compare(ctx, short, at, t)
	case chainWord:
		return c.chain(ctx, short, at, t)
	case maxWord, minWord:
		return c.bound(ctx, short, at, t, kind)
	}
	return c.flip(ctx, short, at, t)
}

// ticket draws a ticket, or looks which is next. Peers that are told of a ticket do not
// find an older one afterwards: the notification comes after the atomic.
func (c *atomicWorker) ticket(ctx, short context.Context, at gaspi.Remote, t *wordTally, member int) error {
	id := gaspi.NotificationID(member)
	least := uint64(c.seg.Peek(id))
	add := min(c.rng.Uint64N(4), 1) // 0 looks
	got, err := outcome(ctx)(c.p.FetchAdd(short, at, add))
	if c.mutant("stale answer") && got > 0 {
		got--
	}
	if c.mutant("done twice") && add == 1 && err == nil && t.tickets == 3 {
		_, err = c.p.FetchAdd(ctx, at, add)
	}
	if err != nil {
		return err
	}
	if got < least || got < t.lastTicket {
		return fmt.Errorf("FetchAdd of %d returned %d; a notification seen before it says %d, this goroutine's own last answer %d",
			add, got, least, t.lastTicket)
	}
	t.lastTicket = got + add
	if add == 1 {
		t.tickets, t.ticketSum, t.ticketSquares = t.tickets+1, t.ticketSum+got, t.ticketSquares+got*got
	}
	if c.mutant("error although done") && t.tickets == 2 && add == 1 {
		t.tickets, t.ticketSum, t.ticketSquares = t.tickets-1, t.ticketSum-got, t.ticketSquares-got*got
	}
	if got == 0 {
		return nil
	}
	q, peer := c.p.MustQueue(0), c.members[c.rng.IntN(len(c.members))]
	return c.post(ctx, c.rng, q, func() error {
		return q.Notify(c.seg.At(peer, 0), gaspi.Notification{ID: id, Value: gaspi.Value(got)})
	})
}

// compare adds one by CompareSwap.
func (c *atomicWorker) compare(ctx, short context.Context, at gaspi.Remote, t *wordTally) error {
	old, err := outcome(ctx)(c.p.CompareSwap(short, at, 0, 1))
	for err == nil {
		if old == 0 {
			t.swaps++
			return nil
		}
		expected := old
		if old, err = outcome(ctx)(c.p.CompareSwap(short, at, expected, expected+1)); err == nil && old == expected {
			t.swaps++
			return nil
		}
		if c.rng.IntN(4) == 0 {
			return err
		}
	}
	return err
}

// chain stores a value that is used once.
func (c *atomicWorker) chain(ctx, short context.Context, at gaspi.Remote, t *wordTally) error {
	c.serial++
	v := c.serial<<16 | c.number + 1
	if c.rng.IntN(2) == 0 {
		old, err := outcome(ctx)(c.p.Swap(short, at, v))
		if err == nil {
			t.chainIn, t.chainOut = t.chainIn+mix(v), t.chainOut+mix(old)
		}
		return err
	}
	guess, err := outcome(ctx)(c.p.FetchAdd(short, at, 0))
	if err != nil {
		return err
	}
	old, err := outcome(ctx)(c.p.CompareSwap(short, at, guess, v))
	if err == nil && old == guess {
		t.chainIn, t.chainOut = t.chainIn+mix(v), t.chainOut+mix(old)
	}
	return err
}

// bound raises the greatest value, or lowers the least.
func (c *atomicWorker) bound(ctx, short context.Context, at gaspi.Remote, t *wordTally, kind int) error {
	c.serial++
	v := c.serial<<16 | c.number
	if kind == maxWord {
		old, err := outcome(ctx)(c.p.FetchMax(short, at, v))
		if err == nil && old < t.high {
			return fmt.Errorf("FetchMax returned %#x, although the word has been %#x", old, t.high)
		}
		if err == nil {
			t.high = max(v, old)
		}
		return err
	}
	old, err := outcome(ctx)(c.p.FetchMin(short, at, ^v))
	if err == nil && old > t.low {
		return fmt.Errorf("FetchMin returned %#x, although the word has been %#x", old, t.low)
	}
	if err == nil {
		t.low = min(^v, old)
	}
	return err
}

// flip sets or clears this goroutine's bit.
func (c *atomicWorker) flip(ctx, short context.Context, at gaspi.Remote, t *wordTally) error {
	mask := uint64(1) << (c.number % 64)
	set := c.rng.IntN(2) == 0
	var old uint64
	var err error
	if set {
		old, err = outcome(ctx)(c.p.FetchOr(short, at, mask))
	} else {
		old, err = outcome(ctx)(c.p.FetchAnd(short, at, ^mask))
	}
	if err != nil {
		return err
	}
	if old&mask != t.bit {
		return fmt.Errorf("bit %d was %d before, want %d: nobody else changes it", c.number%64, min(old&mask, 1), min(t.bit, 1))
	}
	t.bit = 0
	if set {
		t.bit = mask
	}
	return nil
}

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

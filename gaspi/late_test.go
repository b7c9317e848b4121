package gaspi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

// The contract of atomics and passive messages whose context ends, a test for each
// sentence, over ranks that share memory and ranks that do not.

// everyWire runs a job of n ranks over each transport that Local has.
func everyWire(t *testing.T, n int, main func(t *testing.T, ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	for _, c := range []struct {
		name string
		cfg  func(*gaspi.Config)
	}{
		{"loopback", func(*gaspi.Config) {}},
		{"tcp", func(c *gaspi.Config) { c.Transport = "tcp" }},
		{"emulated", func(c *gaspi.Config) { c.Emulate = "latency=20us,jitter=50us" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := small
			c.cfg(&cfg)
			cfg.Groups = 128             // one that is given up keeps its number
			cfg.Spin, cfg.Yield = -1, -1 // so that a wait looks at its limit at once
			if err := gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error { return main(t, ctx, p) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// unlessShort is how often something is done: a fifth of n in short tests, as the race
// detector takes them.
func unlessShort(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// hurry is a source of contexts that end at once or soon.
type hurry struct {
	*rand.Rand
	most time.Duration
}

func newHurry(seed uint64, p *gaspi.Proc, g int, most time.Duration) hurry {
	return hurry{rand.New(rand.NewPCG(seed, uint64(p.Rank())<<32|uint64(g))), most}
}

func (h hurry) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(h.IntN(int(h.most))))
}

// isLate reports whether err is the end of a context.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// settled is the outcome of an atomic: whether it was applied, for which it waits if that
// is in doubt.
func claimed(ctx context.Context, old uint64, err error) (uint64, bool, error) {
	if doubt, is := errors.AsType[*gaspi.InDoubtError](err); is {
		old, err = doubt.Wait(ctx)
		return old, err == nil, err
	}
	if isLate(err) {
		return 0, false, nil
	}
	return old, err == nil, err
}

// "The operation was not applied and never will be": several goroutines of every rank add
// something with contexts that end soon, and what they were told is the word.
func TestAnErrorOfTheContextMeansNotApplied(t *testing.T) {
	t.Parallel()
	const n, workers = 3, 4
	each := unlessShort(2000)
	seed := rand.Uint64()
	var told atomic.Uint64
	everyWire(t, n, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		var wg sync.WaitGroup
		for g := range workers {
			wg.Go(func() {
				hurry := newHurry(seed, p, g, 100*time.Microsecond)
				for range each {
					v := hurry.Uint64N(1 << 20)
					limited, cancel := hurry.limit(ctx)
					old, err := p.FetchAdd(limited, s.At(0, 8), v)
					cancel()
					if _, was, err := claimed(ctx, old, err); err != nil {
						t.Error(err)
					} else if was {
						told.Add(v)
					}
				}
			})
		}
		wg.Wait()
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 0 {
			if got, want := must(p.FetchAdd(ctx, s.At(0, 8), 0)), told.Swap(0); got != want {
				t.Errorf("seed %d: the word is %d, and what callers were told adds up to %d", seed, got, want)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// "A call whose context has ended before is carried out all the same at a rank that is
// connected": a loop of them makes progress.
func TestGASPIDifference20AtomicIsCarriedOut(t *testing.T) {
	everyWire(t, 2, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			must(p.FetchAdd(ctx, s.At(0, 8), 1))
			for i := range uint64(100) {
				if old, err := p.FetchAdd(ended(), s.At(0, 8), 1); err != nil || old != i+1 {
					return fmt.Errorf("call %d: %d, %v; want %d", i, old, err, i+1)
				}
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// "Every call is an operation of its own": none returns a value that is older than a
// notification which its caller has seen, as the answer to an earlier call would be.
func TestAnAtomicIsNotOlderThanANotification(t *testing.T) {
	const rounds = 500
	seed := rand.Uint64()
	everyWire(t, 2, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		hurry := newHurry(seed, p, 0, 100*time.Microsecond)
		for round := range uint64(rounds) {
			if p.Rank() == 0 {
				await(ctx, s, 2)
				must(p.FetchAdd(ctx, s.At(0, 8), 1))
				tell(p, s, 1, 1)
				continue
			}
			for range 4 {
				limited, cancel := hurry.limit(ctx)
				old, err := p.FetchAdd(limited, s.At(0, 8), 0)
				cancel()
				if old, was, err := claimed(ctx, old, err); err != nil || was && old != round {
					return fmt.Errorf("seed %d: %d, %v; want %d", seed, old, err, round)
				}
			}
			tell(p, s, 0, 2)
			await(ctx, s, 1)
		}
		return nil
	})
}

// "The segment is the one that exists when the rank does the operation": it is deleted and
// made again while others add to it, and each addition is in the segment that its old
// value says, which is not one that was gone before the call.
func TestAnAtomicIsAppliedToTheSegmentThatExists(t *testing.T) {
	const n, workers = 3, 2
	rounds := uint64(unlessShort(25))
	seed := rand.Uint64()
	everyWire(t, n, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		for round := uint64(1); round <= rounds; round++ {
			s := must(p.CreateSegment(ctx, 0, 64))
			sums := must(p.CreateSegment(ctx, 1, 64))
			if p.Rank() == 0 {
				must(p.Swap(ctx, s.At(0, 8), round<<32))
			}
			ok(p.Barrier(ctx, p.World()))
			var told atomic.Uint64
			var wg sync.WaitGroup
			for g := range workers {
				wg.Go(func() {
					hurry := newHurry(seed, p, g+int(round)<<8, 100*time.Microsecond)
					for range 40 {
						limited, cancel := hurry.limit(ctx)
						old, err := p.FetchAdd(limited, s.At(0, 8), 1)
						cancel()
						if old, was, err := claimed(ctx, old, err); err != nil || was && old>>32 != round {
							t.Errorf("seed %d, round %d: old value %d of round %d, %v", seed, round, old&(1<<32-1), old>>32, err)
						} else if was {
							told.Add(1)
						}
					}
				})
			}
			wg.Wait()
			must(p.FetchAdd(ctx, sums.At(0, 0), told.Load()))
			ok(p.Barrier(ctx, p.World()))
			if p.Rank() == 0 {
				got, want := must(p.FetchAdd(ctx, s.At(0, 8), 0))-round<<32, must(p.FetchAdd(ctx, sums.At(0, 0), 0))
				if got != want {
					t.Errorf("seed %d, round %d: the word is %d, and callers were told of %d", seed, round, got, want)
				}
			}
			ok(p.Barrier(ctx, p.World()))
			ok(s.Delete())
			ok(sums.Delete())
		}
		return nil
	})
}

// A message tells who sends it, how long it is, and which it is, in every word.
func fillMessage(b []byte, from gaspi.Rank, serial uint64) {
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(from)<<56|uint64(len(b))<<40|serial)
	}
}

func readMessage(b []byte, from gaspi.Rank) (serial uint64, err error) {
	for i := 0; i < len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		if i == 0 {
			serial = word & (1<<40 - 1)
		}
		if want := uint64(from)<<56 | uint64(len(b))<<40 | serial; word != want {
			return 0, fmt.Errorf("word %d of a message of %d bytes of rank %d is %#x, want %#x", i/8, len(b), from, word, want)
		}
	}
	return serial, nil
}

// "An error says that it was not and will not be received", and what is received "is
// whole": senders give up after times of the order of a delivery, and what arrives is
// exactly what they were told.
func TestAPassiveMessageIsReceivedOrWithdrawn(t *testing.T) {
	t.Parallel()
	const n = 4
	messages := uint64(unlessShort(1500))
	seed := rand.Uint64()
	var sent, received [n][]uint64
	everyWire(t, n, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 256))
		if p.Rank() == 0 {
			clear(sent[:])
			clear(received[:])
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 0 {
			receiveAll(t, ctx, p, s, &received)
		} else {
			hurry := newHurry(seed, p, 0, 400*time.Microsecond)
			for serial := range messages {
				src := must(s.Span(0, 8*uint64(1+hurry.IntN(32))))
				fillMessage(src.Bytes(), p.Rank(), serial)
				limited, cancel := hurry.limit(ctx)
				err := p.PassiveSend(limited, 0, src)
				cancel()
				if err == nil {
					sent[p.Rank()] = append(sent[p.Rank()], serial)
				} else if !isLate(err) {
					return err
				}
			}
			ok(p.PassiveSend(ctx, 0, must(s.Span(0, 0))))
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 0 {
			for r := range sent {
				t.Logf("rank %d: %d of %d delivered", r, len(sent[r]), messages)
				if d := cmp.Diff(sent[r], received[r]); d != "" {
					t.Errorf("seed %d, rank %d (-sent +received):\n%s", seed, r, d)
				}
			}
		}
		return nil
	})
}

// receiveAll receives until each other rank has sent an empty message.
func receiveAll[A ~[4][]uint64](t *testing.T, ctx context.Context, p *gaspi.Proc, s *gaspi.Segment, into *A) {
	for open := p.Size() - 1; open > 0; {
		from, size, err := p.PassiveReceive(ctx, must(s.Span(0, 256)))
		ok(err)
		if size == 0 {
			open--
			continue
		}
		serial, err := readMessage(s.Bytes()[:size], from)
		if err != nil {
			t.Error(err)
		}
		(*into)[from] = append((*into)[from], serial)
	}
}

// "The same goes for the end of this rank's part by Close": a rank closes while it sends,
// and the receiver has got what the sender was told, to the last message.
func TestCloseLeavesNoPassiveMessageBehind(t *testing.T) {
	const rounds = 12
	seed := rand.Uint64()
	told := make(chan []uint64, 1)
	for round := range rounds {
		everyWire(t, 2, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
			s := must(p.AllocSegment(0, 256))
			if p.Rank() == 1 {
				src := must(s.Span(0, 64))
				hurry := newHurry(seed, p, round, 3*time.Millisecond)
				closing := time.AfterFunc(time.Duration(hurry.IntN(int(hurry.most))), func() { p.Close() })
				defer closing.Stop()
				sent, err := sendUntil(ctx, p, src)
				if !errors.Is(err, gaspi.ErrClosed) {
					t.Errorf("seed %d, round %d: %v, want ErrClosed", seed, round, err)
				}
				told <- sent
				return nil
			}
			var received []uint64
			for {
				from, size, err := p.PassiveReceive(ctx, must(s.Span(0, 256)))
				if err != nil {
					break // the sender has left
				}
				received = append(received, must(readMessage(s.Bytes()[:size], from)))
			}
			if sent := <-told; !slices.Equal(sent, received) {
				t.Errorf("seed %d, round %d: sent %v, received %v", seed, round, sent, received)
			}
			return nil
		})
	}
}

// sendUntil sends messages to rank 0 until that fails, and returns which arrived.
func sendUntil(ctx context.Context, p *gaspi.Proc, src gaspi.Span) (sent []uint64, err error) {
	for serial := uint64(1); ; serial++ {
		fillMessage(src.Bytes(), p.Rank(), serial)
		if err := p.PassiveSend(ctx, 0, src); err != nil {
			return sent, err
		}
		sent = append(sent, serial)
	}
}

// A commit that was given up is not taken for a later one, whatever of its records was on
// its way: ranks begin commits, give up half of them, and commit other groups.
func TestCommitsThatAreGivenUp(t *testing.T) {
	const n, rounds = 4, 60
	seed := rand.Uint64()
	everyWire(t, n, func(t *testing.T, ctx context.Context, p *gaspi.Proc) error {
		hurry := newHurry(seed, p, 0, 300*time.Microsecond)
		common := rand.New(rand.NewPCG(seed, 1<<63)) // the same at all ranks
		for round := range rounds {
			in := uint(1+common.IntN(1<<n-1)) | 1<<common.IntN(n)
			givesUp := common.IntN(2) == 0
			if in>>p.Rank()&1 != 0 {
				g := must(p.NewGroup())
				for r := range gaspi.Rank(n) {
					if in>>r&1 != 0 {
						ok(g.Add(r))
					}
				}
				var err error
				for try := 0; try == 0 || isLate(err) && !(givesUp && try == 3); try++ {
					limited, cancel := hurry.limit(ctx)
					err = g.Commit(limited)
					cancel()
					ok(ctx.Err())
				}
				if err != nil && !isLate(err) {
					return fmt.Errorf("seed %d, round %d: %w", seed, round, err)
				}
				if !givesUp {
					ok(p.Barrier(ctx, g))
				}
				ok(p.Barrier(ctx, p.World()))
				ok(g.Delete())
			} else {
				ok(p.Barrier(ctx, p.World()))
			}
			ok(p.Barrier(ctx, p.World()))
		}
		return nil
	})
}

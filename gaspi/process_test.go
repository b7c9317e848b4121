//go:build !race

package gaspi_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// These tests start ranks as processes, each of which plays a role. The race detector knows
// nothing of orders in mapped memory, so they run without it.
func processRoles() map[string]testenv.Role {
	return map[string]testenv.Role{
		"ring":           processRank(playRing),
		"line":           processRank(playLines),
		"message":        processRank(playMessagePassing),
		"store buffers":  processRank(playStoreBuffers),
		"contention":     processRank(playContention),
		"collectives":    processRank(playCollectives),
		"segments":       processRank(playSegmentsAgainAndAgain),
		"victim":         processRank(playVictim),
		"sleeper":        processRank(playSleeper),
		"passive":        processRank(playPassive),
		"oversubscribed": processRank(playOversubscribed),
		"allocations":    processRank(playAllocations),
		"stopped":        processRank(playStopped),
		"halo":           processRank(halo),
		"left memory":    processRank(playLeftMemory),
	}
}

// processRank is the role of a rank that may end with a panic of must or ok.
func processRank(play func(ctx context.Context, p *gaspi.Proc) error) testenv.Role {
	cfg := gaspi.Config{Segments: 8, Groups: 8, Notifications: 1024, PassiveMax: 256}
	return ranktest.Rank(cfg, func(ctx context.Context, p *gaspi.Proc, _ []string) (err error) {
		defer func() {
			if bug := recover(); bug != nil {
				err = fmt.Errorf("panic: %v", bug)
			}
		}()
		return play(ctx, p)
	})
}

// eachCount runs role with several numbers of ranks, also many more than there
// are cores, and once with one thread of Go per rank.
func eachCount(t *testing.T, role string, counts ...int) {
	t.Helper()
	for _, n := range counts {
		for _, threads := range []string{"", "1"} {
			t.Run(fmt.Sprintf("%d ranks GOMAXPROCS=%s", n, threads), func(t *testing.T) {
				cfg := launcher.Config{Ranks: n}
				if threads != "" {
					cfg.Env = []string{"GOMAXPROCS=" + threads}
				}
				ranktest.Succeeds(t, cfg, role)
			})
		}
	}
}

// TestProcessesHalo runs the lines that Example and the program of README.md have.
func TestProcessesHalo(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		for _, n := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s, %d ranks", transport, n), func(t *testing.T) {
				o := ranktest.Run(t, launcher.Config{Ranks: n, Transport: transport}, "halo")
				mean := fmt.Sprintf(" of %d has %.3f\n", n, float64(n-1)/2)
				if o.ExitCode != 0 || strings.Count(o.Stdout, mean) != n {
					t.Errorf("exit code %d, %s, want %d times %q\n%s", o.ExitCode, o.Sentence, n, mean, o.Output)
				}
			})
		}
	}
}

func TestProcessesRing(t *testing.T) { eachCount(t, "ring", 2, 5) }

func playRing(ctx context.Context, p *gaspi.Proc) error {
	if name := must(p.Transport(0)); name != "shm" {
		return fmt.Errorf("transport %s, want shm", name)
	}
	s := must(p.CreateSegment(ctx, 0, 64))
	words := must(gaspi.View[uint64](s, 0, 2))
	next, prev := (int(p.Rank())+1)%p.Size(), (int(p.Rank())+p.Size()-1)%p.Size()
	for round := uint64(1); round <= 300; round++ {
		words[0] = round<<8 + uint64(p.Rank())
		ok(p.MustQueue(0).WriteNotify(s.At(gaspi.Rank(next), 8), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: gaspi.Value(round)}))
		ok(p.MustQueue(0).Wait(ctx))
		if v := await(ctx, s, 1); v != gaspi.Value(round) || words[1] != round<<8+uint64(prev) {
			return fmt.Errorf("round %d: notification %d, word %#x", round, v, words[1])
		}
		ok(p.Barrier(ctx, p.World()))
	}
	return nil
}

// Litmus test "message passing": whoever sees the flag sees the data, written in
// any way. Pairs of ranks play it without a barrier between.
func TestProcessesSeeTheDataBehindTheFlag(t *testing.T) { eachCount(t, "message", 2, 8) }

func playMessagePassing(ctx context.Context, p *gaspi.Proc) error {
	const words = 32
	rounds := uint64(2000)
	if _, emulated := p.Emulation().Network(); emulated {
		rounds = 500 // each takes much longer
	}
	s := must(p.CreateSegment(ctx, 0, 2*8*words))
	mine, theirs := must(gaspi.View[uint64](s, 0, words)), must(gaspi.View[uint64](s, 8*words, words))
	peer, q := p.Rank()^1, p.MustQueue(0)
	src := must(s.Span(0, 8*words))
	for round := uint64(1); round <= rounds; round++ {
		for i := range mine {
			mine[i] = round*1000 + uint64(i)
		}
		n := gaspi.Notification{ID: 3, Value: gaspi.Value(round)}
		if round%2 == 0 {
			ok(q.WriteNotify(s.At(peer, 8*words), src, n))
		} else {
			for i := range uint64(words) {
				ok(q.Write(s.At(peer, 8*words+8*i), must(src.Sub(8*i, 8))))
			}
			ok(q.Notify(s.At(peer, 0), n))
		}
		ok(q.Wait(ctx))
		for polled := round%32 == 0; ; {
			if !polled {
				must(s.WaitSome(ctx, 3, 1))
			}
			if v := must(s.Reset(3)); v == gaspi.Value(round) {
				break
			} else if v != 0 {
				return fmt.Errorf("round %d: value %d", round, v)
			} else if err := ctx.Err(); err != nil {
				return err
			}
		}
		for i, w := range theirs {
			if w != round*1000+uint64(i) {
				return fmt.Errorf("round %d: word %d is %d", round, i, w)
			}
		}
		// The peer may overwrite what was read.
		ok(q.Notify(s.At(peer, 0), gaspi.Notification{ID: 4, Value: 1}))
		await(ctx, s, 4)
	}
	return p.Barrier(ctx, p.World())
}

// Litmus test "a line": whoever sees the value sees the data in front of it, and nobody misses it for ever.
func TestProcessesSeeTheDataOfALine(t *testing.T) { eachCount(t, "line", 2, 8) }

func playLines(ctx context.Context, p *gaspi.Proc) error {
	const words = gaspi.LinePayload / 8
	rounds := uint64(20_000)
	if _, emulated := p.Emulation().Network(); emulated {
		rounds = 500 // each takes much longer
	}
	s := must(p.CreateSegment(ctx, 0, 4*gaspi.LineSize))
	mine := must(gaspi.View[uint64](s, 0, words))
	peer, q := p.Rank()^1, must(p.CreateQueue(gaspi.Serialized()))
	src := must(s.Span(0, gaspi.LinePayload))
	for round := uint64(1); round <= rounds; round++ {
		at := gaspi.LineSize * (1 + round%2) // the peer may still read the other line
		for i := range mine {
			mine[i] = round*1000 + uint64(i)
		}
		n := gaspi.Notification{ID: gaspi.NotificationID(round % 2), Value: gaspi.Value(round)}
		ok(q.WriteNotifyLine(s.At(peer, at), src, n))
		ok(q.Wait(ctx))
		if round%32 == 0 || !s.PollLine(at, n.Value) {
			ok(s.WaitUntil(ctx, n.ID, gaspi.Reached, n.Value))
		}
		for i, w := range must(gaspi.View[uint64](s, at, words)) {
			if w != round*1000+uint64(i) {
				return fmt.Errorf("round %d: word %d is %d", round, i, w)
			}
		}
	}
	return p.Barrier(ctx, p.World())
}

// Litmus test "store buffering": of two ranks that each store and then look at
// what the other stores, at least one sees it. Atomics are such stores and looks.
func TestProcessesDoNotMissEachOthersAtomics(t *testing.T) { eachCount(t, "store buffers", 2, 4) }

func playStoreBuffers(ctx context.Context, p *gaspi.Proc) error {
	const rounds, together = 20_000, 100
	s := must(p.CreateSegment(ctx, 0, 16*rounds))
	seen := must(p.CreateSegment(ctx, 1, 8*rounds))
	left := p.Rank()&^1 == p.Rank()
	owner := p.Rank() &^ 1
	x, y := uint64(0), uint64(8)
	if !left {
		x, y = y, x
	}
	for round := range uint64(rounds) {
		if round%together == 0 {
			ok(p.Barrier(ctx, p.World())) // so that the two meet again
		}
		must(p.Swap(ctx, s.At(owner, 16*round+x), 1))
		if must(p.FetchAdd(ctx, s.At(owner, 16*round+y), 0)) == 1 {
			must(p.FetchAdd(ctx, seen.At(owner, 8*round), 1))
		}
	}
	ok(p.Barrier(ctx, p.World()))
	if left {
		for round, n := range must(gaspi.View[uint64](seen, 0, rounds)) {
			if n == 0 {
				return fmt.Errorf("round %d: neither rank saw the other's store", round)
			}
		}
	}
	return p.Barrier(ctx, p.World())
}

func TestProcessesContendForAtomics(t *testing.T) { eachCount(t, "contention", 2, 8) }

func playContention(ctx context.Context, p *gaspi.Proc) error {
	const each = 2000
	s := must(p.CreateSegment(ctx, 0, 64))
	last := gaspi.Rank(p.Size() - 1)
	for i := range uint64(each) {
		must(p.FetchAdd(ctx, s.At(last, 0), 3))
		must(p.FetchMax(ctx, s.At(last, 8), i*uint64(p.Size())+uint64(p.Rank())))
		must(p.FetchXor(ctx, s.At(last, 16), 1<<p.Rank()))
		for old := uint64(0); ; {
			was := must(p.CompareSwap(ctx, s.At(last, 24), old, old+1))
			if was == old {
				break
			}
			old = was
		}
		ok(p.MustQueue(0).Notify(s.At(last, 0), gaspi.Notification{ID: 1, Value: 1, Add: true}))
		if p.MustQueue(0).Size() > 1000 {
			ok(p.MustQueue(0).Wait(ctx))
		}
	}
	ok(p.Barrier(ctx, p.World()))
	if p.Rank() == last {
		n := uint64(p.Size())
		words := must(gaspi.View[uint64](s, 0, 4))
		if words[0] != 3*n*each || words[1] != each*n-1 || words[2] != 0 || words[3] != n*each || must(s.Reset(1)) != gaspi.Value(n*each) {
			return fmt.Errorf("words %v after %d ranks did %d each", words, n, each)
		}
	}
	return p.Barrier(ctx, p.World())
}

func TestProcessesCollectives(t *testing.T) { eachCount(t, "collectives", 1, 4, 8) }

func playCollectives(ctx context.Context, p *gaspi.Proc) error {
	n := int64(p.Size())
	half := must(p.NewGroup())
	for r := range gaspi.Rank(n) {
		if r%2 == p.Rank()%2 {
			ok(half.Add(r))
		}
	}
	ok(half.Commit(ctx))
	for round := range int64(300) {
		x := []int64{round, int64(p.Rank())}
		ok(gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum))
		if x[0] != n*round || x[1] != n*(n-1)/2 {
			return fmt.Errorf("round %d: %v", round, x)
		}
		y := []float64{1}
		ok(gaspi.AllReduce(ctx, half, y, y, gaspi.Sum))
		if y[0] != float64(half.Size()) {
			return fmt.Errorf("round %d: half of the ranks add up to %v of %d", round, y[0], half.Size())
		}
		ok(p.Barrier(ctx, half))
		ok(p.Barrier(ctx, p.World()))
	}
	return nil
}

func TestProcessesMakeSegmentsAgainAndAgain(t *testing.T) { eachCount(t, "segments", 3) }

func playSegmentsAgainAndAgain(ctx context.Context, p *gaspi.Proc) error {
	files := openFiles()
	for round := range uint64(50) {
		s := must(p.CreateSegment(ctx, 2, 4096*(1+round%3)))
		words := must(gaspi.View[uint64](s, 0, 2))
		if words[0] != 0 {
			return fmt.Errorf("round %d: a new segment holds %d", round, words[0])
		}
		words[0] = round + 1
		next := gaspi.Rank((int(p.Rank()) + 1) % p.Size())
		ok(p.MustQueue(0).WriteNotify(s.At(next, 8), must(s.Span(0, 8)), gaspi.Notification{ID: 0, Value: 1}))
		ok(p.MustQueue(0).Wait(ctx))
		if await(ctx, s, 0); words[1] != round+1 {
			return fmt.Errorf("round %d: got %d", round, words[1])
		}
		ok(p.Barrier(ctx, p.World()))
		ok(s.Delete())
		_, _, err := p.RemoteSize(next, 2)
		if err == nil {
			ok(p.Barrier(ctx, p.World())) // the peer has not come to its Delete yet
			continue
		}
		ok(p.Barrier(ctx, p.World()))
	}
	for looks := 0; openFiles() > files; looks++ {
		if looks == 1000 {
			return fmt.Errorf("%d descriptors, %d before", openFiles(), files)
		}
		time.Sleep(time.Millisecond) // sleep: one that was open for a moment closes
	}
	return nil
}

func openFiles() int { return len(must(os.ReadDir("/proc/self/fd"))) }

func TestProcessesPassive(t *testing.T) { eachCount(t, "passive", 4) }

func playPassive(ctx context.Context, p *gaspi.Proc) error {
	const each = 300
	s := must(p.AllocSegment(0, 64))
	word := must(gaspi.View[uint64](s, 0, 1))
	if p.Rank() > 0 {
		for i := range uint64(each) {
			word[0] = i
			ok(p.PassiveSend(ctx, 0, must(s.Span(0, 8))))
		}
		return p.Barrier(ctx, p.World())
	}
	next := make([]uint64, p.Size())
	for range each * (p.Size() - 1) {
		from, n, err := p.PassiveReceive(ctx, must(s.Span(0, 64)))
		if ok(err); n != 8 || word[0] != next[from] {
			return fmt.Errorf("from rank %d: message %d of %d bytes, want %d", from, word[0], n, next[from])
		}
		next[from]++
	}
	return p.Barrier(ctx, p.World())
}

// GPI-2 keeps a core busy in every wait that does not end at once. Here rank 0 sleeps in WaitSome
// and counts its own processor time. Heartbeats take more of it while other programs use the
// processors: rank 0 waits again, a few times, until a wait was cheap.
func TestWaitingProcessUsesNoCore(t *testing.T) {
	t.Log(ranktest.Succeeds(t, launcher.Config{Ranks: 2}, "sleeper").Stdout)
}

func playSleeper(ctx context.Context, p *gaspi.Proc) error {
	const most = 10 // waits
	sleep := 2 * time.Second
	if os.Getenv("GASPI_TEST_LONG") != "" {
		sleep = 10 * time.Second
	}
	s := must(p.CreateSegment(ctx, 0, 8))
	for range most {
		cheap := []int64{0}
		if p.Rank() == 1 {
			time.Sleep(sleep) // sleep: the length of rank 0's wait, in which its processor time is counted
			tell(p, s, 0, 1)
		} else {
			before, begin := cpuTime(), time.Now()
			await(ctx, s, 1)
			used, waited := cpuTime()-before, time.Since(begin)
			fmt.Printf("%v of processor time in a wait of %v\n", used, waited)
			if used <= waited/100 {
				cheap[0] = 1
			}
		}
		ok(gaspi.AllReduce(ctx, p.World(), cheap, cheap, gaspi.Max))
		if cheap[0] == 1 {
			return nil
		}
	}
	return fmt.Errorf("more than 1 %% of a core in each of %d waits of %v", most, sleep)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	ok(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

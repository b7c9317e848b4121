package transfer

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name string
		size uint64
		want int
	}{
		{"the least", 1, 64},
		{"the largest of a full window", 64 << 10, 64},
		{"as many as make 4 MiB", 256 << 10, 16},
		{"a part does not count", 300 << 10, 13},
		{"1 MiB", 1 << 20, 4},
		{"the receiver's wake-up counts", 1 << 30, 4},
	} {
		if got := window(c.size); got != c.want {
			t.Errorf("%s: %d writes of %d bytes, want %d", c.name, got, c.size, c.want)
		}
	}
}

// onRanks runs f on the ranks of a job of this process. Each has a bench whose boxes have
// that many bytes.
func onRanks(t *testing.T, ranks int, transport string, boxes uint64, f func(ctx context.Context, b *measure.Bench) error) error {
	t.Helper()
	return gaspi.Local(t.Context(), ranks, gaspi.Config{Transport: transport}, func(ctx context.Context, p *gaspi.Proc) error {
		b, err := measure.Open(ctx, p, measure.Rules{}, boxes, 1, nil)
		if err != nil {
			return err
		}
		return f(ctx, b)
	})
}

// A sent is what a rank posts in a batch.
type sent struct{ Writes, Bytes, Notifies, Waits uint64 }

// A prepared is a workload as all ranks must see it, and what the batches of its
// contenders post, by contender and rank.
type prepared struct {
	Subject report.Subject
	Steps   int
	Impls   []string
	Posts   [][]sent
}

// rounds is how many rounds a batch has here.
const rounds = 3

// Goal: all ranks prepare the same workloads with the same contenders, of which one clock
// counts, and a batch posts exactly what its benchmark says; a limit posts nothing.
func TestWorkloads(t *testing.T) {
	both := []string{report.ImplGaspi, report.ImplLimit}
	alone := both[:1]
	// of completes the posts of ranks 0 and 1 for all contenders.
	of := func(impls []string, ranks int, first, second sent) [][]sent {
		posts := [][]sent{append([]sent{first, second}, make([]sent, ranks-2)...)}
		if len(impls) > 1 {
			posts = append(posts, make([]sent, ranks))
		}
		return posts
	}
	for _, ranks := range []int{2, 3} {
		ping := func(impls []string) []prepared {
			each := sent{Writes: rounds, Bytes: rounds * 100, Waits: rounds}
			posts := of(impls, ranks, each, each)
			return []prepared{
				{report.Subject{Op: "latency", Bytes: 100}, 2, impls, posts},
				{report.Subject{Op: "delivery", Bytes: 100}, 2, impls, posts},
			}
		}
		const blockBytes = 1 << 20 // of which a window has 4
		stream := prepared{
			report.Subject{Op: "bandwidth", Bytes: blockBytes, Moves: true}, 4, both,
			of(both, ranks, sent{Writes: rounds * 4, Bytes: rounds * 4 * blockBytes, Notifies: rounds, Waits: rounds}, sent{Notifies: rounds, Waits: rounds}),
		}
		put := prepared{
			report.Subject{Op: "put", Bytes: blockBytes, Moves: true}, 4, both,
			of(both, ranks, sent{Writes: rounds * 4, Bytes: rounds * 4 * blockBytes, Waits: 1}, sent{}),
		}
		notes := func(impls []string) []prepared {
			return []prepared{{
				report.Subject{Op: "notify-rate", Rate: true}, NoteWindow, impls,
				of(impls, ranks, sent{Notifies: rounds * NoteWindow, Waits: rounds}, sent{Notifies: rounds, Waits: rounds}),
			}}
		}
		for _, c := range []struct {
			transport string
			bench     measure.Benchmark
			bytes     uint64
			want      []prepared
		}{
			{"loopback", Latency(), 100, ping(both)},
			{"loopback", Bandwidth(), blockBytes, []prepared{stream, put}},
			{"loopback", NotifyRate(), 0, notes(both)},
			{"tcp", Latency(), 100, ping(both)},
			{"tcp", Bandwidth(), blockBytes, []prepared{stream}},
			{"tcp", NotifyRate(), 0, notes(alone)},
		} {
			t.Run(fmt.Sprintf("%s/%s/%d", c.transport, c.bench.Name, ranks), func(t *testing.T) {
				if d := cmp.Diff(c.want, prepare(t, ranks, c.transport, c.bench, c.bytes)); d != "" {
					t.Errorf("workloads (-want +got):\n%s", d)
				}
			})
		}
	}
}

// prepare prepares a benchmark on all ranks, which must agree, and runs a batch of each
// contender.
func prepare(t *testing.T, ranks int, transport string, bench measure.Benchmark, bytes uint64) []prepared {
	t.Helper()
	var mu sync.Mutex
	byRank := make([][]prepared, ranks) // guarded by mu; Posts has one rank
	err := onRanks(t, ranks, transport, max(bytes, limit.Page), func(ctx context.Context, b *measure.Bench) error {
		loads, err := bench.Prepare(ctx, b, bytes)
		if err != nil {
			return err
		}
		var mine []prepared
		for _, w := range loads {
			if w.Timed != (b.P.Rank() == 0) {
				return fmt.Errorf("%s: the clock of rank %d counts: %v", w.Op, b.P.Rank(), w.Timed)
			}
			got := prepared{Subject: w.Subject, Steps: w.Steps}
			for _, contender := range w.Contenders {
				posts, err := batch(ctx, b, contender.Batch)
				if err != nil {
					return fmt.Errorf("%s of %s: %w", w.Op, contender.Impl, err)
				}
				got.Impls, got.Posts = append(got.Impls, contender.Impl), append(got.Posts, []sent{posts})
			}
			mine = append(mine, got)
		}
		mu.Lock()
		byRank[b.P.Rank()] = mine
		mu.Unlock()
		return b.Leave(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	all := byRank[0]
	for _, other := range byRank[1:] {
		if len(other) != len(all) {
			t.Fatalf("a rank has %d workloads, rank 0 %d", len(other), len(all))
		}
		for i := range all {
			if len(other[i].Posts) != len(all[i].Posts) {
				t.Fatalf("a rank has contenders %v, rank 0 %v", other[i].Impls, all[i].Impls)
			}
			for j, posts := range other[i].Posts {
				all[i].Posts[j] = append(all[i].Posts[j], posts...)
			}
			other[i].Posts = all[i].Posts
		}
		if d := cmp.Diff(all, other); d != "" {
			t.Errorf("a rank prepares something else than rank 0 (-0 +other):\n%s", d)
		}
	}
	return all
}

// batch runs a batch on all ranks and returns what this one posted.
func batch(ctx context.Context, b *measure.Bench, run func(int) error) (sent, error) {
	if err := b.P.Barrier(ctx, b.P.World()); err != nil {
		return sent{}, err
	}
	b.P.ResetStats()
	err := run(rounds)
	s := b.P.Stats()
	return sent{s.Writes, s.BytesWritten, s.Notifies, s.QueueWaits}, err
}

// Goal: posts without a receiver, by which the model is tuned, are whole windows.
func TestPosts(t *testing.T) {
	const window = NoteWindow
	for _, c := range []struct {
		name  string
		batch func(ctx context.Context, m *Mail) func(int) error
		want  sent
	}{
		{"writes", func(ctx context.Context, m *Mail) func(int) error { return m.Posts(ctx, true) },
			sent{Writes: rounds * window, Bytes: rounds * window * 8, Waits: rounds}},
		{"notifications", func(ctx context.Context, m *Mail) func(int) error { return m.Posts(ctx, false) },
			sent{Notifies: rounds * window, Waits: rounds}},
		{"looks", func(_ context.Context, m *Mail) func(int) error { return m.Looks() }, sent{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := onRanks(t, 2, "loopback", limit.Page, func(ctx context.Context, b *measure.Bench) error {
				peer, _ := b.Peer()
				m, err := NewMail(b, peer, 8, false)
				if err != nil {
					return err
				}
				run, want := measure.Idle, sent{}
				if m.first {
					run, want = c.batch(ctx, m), c.want
				}
				got, err := batch(ctx, b, run)
				if got != want {
					t.Errorf("rank %d posts %+v, want %+v", b.P.Rank(), got, want)
				}
				if err != nil {
					return err
				}
				return b.Leave(ctx)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

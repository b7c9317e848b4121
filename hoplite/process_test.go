package hoplite_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// roleEnv makes this test binary a rank of a job: its value says over which transport and
// network, and what to do.
const roleEnv = "HOPLITE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// play is the life of a rank: "transport:network:role:argument".
func play(role string) error {
	part := strings.SplitN(role, ":", 4)
	ctx, cancel := awake(context.Background(), roleLimit)
	defer cancel()
	p, err := gaspi.Init(ctx, gaspi.Config{
		Transport: part[0], Emulate: part[1],
		Log: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer p.Close()
	roles := map[string]func(ctx context.Context, p *gaspi.Proc, arg string) error{"tour": playTour, "mortal": playMortal}
	return roles[part[2]](ctx, p, part[3])
}

// roleLimit bounds the life of a rank.
const roleLimit = 60 * time.Second

// awake is a context that ends after a time in which this process was awake: one that the
// system has stopped for a while has not waited in vain.
func awake(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	const tick = 50 * time.Millisecond
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for range limit / tick {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// A transcript is what ranks and launcher say, which goroutines of the launcher write.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *transcript) line(s string) { fmt.Fprintln(t, "launcher:", s) }

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// processes runs this test binary as ranks. It returns what they and the launcher say.
func processes(t *testing.T, ranks int, role string, onFailure launcher.OnFailure) (launcher.Result, string) {
	t.Helper()
	var out transcript
	res, err := launcher.Run(t.Context(), launcher.Config{
		Program: "/proc/self/exe", Ranks: ranks, Env: []string{roleEnv + "=" + role},
		Stdout: &out, Stderr: &out, OnFailure: onFailure, Timeout: time.Hour, // ranks have limits of their own
		Log: out.line, Notice: out.line,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return res, out.String()
}

// TestProcesses is a tour of the calls between processes: over shared memory, where what is
// written has landed at once, over TCP, and over a network that takes its time.
func TestProcesses(t *testing.T) {
	for _, c := range []struct{ name, transport, network string }{
		{"shm", "shm", ""},
		{"tcp", "tcp", ""},
		{"emulated", "auto", "latency=200us,bandwidth=100MB/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			role := strings.Join([]string{c.transport, c.network, "tour", ""}, ":")
			if res, out := processes(t, 4, role, launcher.Abort); res.ExitCode != 0 {
				t.Errorf("%s\n%s", res.Sentence, out)
			}
		})
	}
}

func playTour(ctx context.Context, p *gaspi.Proc, _ string) error {
	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 32 << 20, Chunk: 16 << 10, Inline: 1000, Slots: 3})
	if err != nil {
		return err
	}
	for round, n := range []int{0, 1, 100, 125, 126, 10_000, 100_000} {
		for _, what := range []string{"a", "b"} {
			if err := reduceOnce(ctx, p, s, fmt.Sprintf("%s %d", what, round), n); err != nil {
				return fmt.Errorf("%d elements: %w", n, err)
			}
		}
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if p.Rank() == 2 {
		for round := range 7 {
			if err := s.Delete(ctx, fmt.Sprintf("a %d", round)); err != nil {
				return err
			}
		}
	}
	return s.Close(ctx)
}

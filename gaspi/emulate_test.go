package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Ranks of one process do what they do elsewhere, each as if alone on its host.
func TestEmulated(t *testing.T) {
	for _, transport := range []string{"loopback", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			cfg := small
			cfg.Transport, cfg.Emulate = transport, "latency=200us,bandwidth=100MB/s,overhead=2us"
			const count = 4
			err := gaspi.Local(t.Context(), count, cfg, func(ctx context.Context, p *gaspi.Proc) error {
				net, emulated := p.Emulation().Network()
				if !emulated || net.Latency != 200*time.Microsecond || p.LocalSize() != 1 {
					return fmt.Errorf("network %v, %v; %d ranks on this host, want 1", net, emulated, p.LocalSize())
				}
				seg := must(p.CreateSegment(ctx, 0, 1<<20))
				next, q := (p.Rank()+1)%count, p.MustQueue(0)
				if _, mapped := seg.Mapped(next, 0, 8); mapped {
					return errors.New("memory of a rank of another host can be addressed")
				}
				start := time.Now()
				ok(p.Barrier(ctx, p.World()))
				ok(q.WriteNotify(seg.At(next, 0), must(seg.Span(1<<19, 1<<19)), gaspi.Notification{ID: 1, Value: 1}))
				must(seg.WaitSome(ctx, 1, 1))
				ok(q.Wait(ctx))
				// Half a MiB at 100 MB/s, which no host can make quicker.
				if took := time.Since(start); took < 5*time.Millisecond {
					return fmt.Errorf("512 KiB came after %v; the network takes 5.2 ms", took)
				}
				ok(p.Ping(ctx, next))
				ok(p.Barrier(ctx, p.World()))
				if p.Emulation().Punctuality().Delivered.Events == 0 {
					return errors.New("nothing was delivered")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A network that makes no sense is one sentence.
func TestEmulateRefuses(t *testing.T) {
	cfg := small
	cfg.Emulate = "latency=fast"
	err := gaspi.Local(t.Context(), 1, cfg, func(context.Context, *gaspi.Proc) error { return nil })
	want := `gaspi: Config.Emulate: emulated network: latency: "fast" is no time from 0 to 1h0m0s; expected such as 100us or 2ms`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

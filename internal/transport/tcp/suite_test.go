package tcp

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/transporttest"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// polling yields for a while and then sleeps.
func polling() *notify.WaitPolicy { return notify.ProcessWait(0, 50*time.Microsecond) }

// join makes n ranks of this process. change may change what each is configured
// with.
func join(t testing.TB, n int, change func(r base.Rank, cfg *Config)) []*Transport {
	t.Helper()
	key := auth.NewKey()
	ranks := make([]*Transport, n)
	for r := range ranks {
		cfg := Config{
			Rank: base.Rank(r), Size: n, IDs: transporttest.IDs, Job: "test", Credentials: auth.Credentials{Key: key}, WaitPolicy: polling(),
			Lookup: func(_ context.Context, r base.Rank) (string, error) { return ranks[r].Address(), nil },
			Begin:  func(t *Transport) { t.PolledBy(t.cfg.WaitPolicy) },
		}
		if change != nil {
			change(base.Rank(r), &cfg)
		}
		var err error
		if ranks[r], err = New(cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := ranks[r].Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return ranks
}

func heapMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.New(size, notifications, polling())
}

func fileMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	return segment.Create(size, notifications, polling())
}

func TestContract(t *testing.T) {
	for _, c := range []struct {
		name   string
		listen string
		tls    bool
		memory transporttest.NewSegment
	}{
		{"IPv4", "127.0.0.1", false, heapMemory},
		{"IPv6", "::1", false, heapMemory},
		{"TLS", "127.0.0.1", true, heapMemory},
		{"memory files", "127.0.0.1", false, fileMemory},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raceDetector && c.name == "memory files" {
				t.Skip("the race detector does not see what memory files order")
			}
			testenv.NeedListener(t, c.listen)
			t.Parallel() // much of it waits
			transporttest.Run(t, func(t *testing.T, n int) (ranks []transport.Transport) {
				for _, r := range join(t, n, func(_ base.Rank, cfg *Config) {
					cfg.Listen = []netip.Addr{netip.MustParseAddr(c.listen)}
					cfg.TLS = c.tls
				}) {
					ranks = append(ranks, r)
				}
				return ranks
			}, c.memory)
		})
	}
}

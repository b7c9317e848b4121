package gaspi_test

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Each rank writes to the next one, and says how much went there.
func ExamplePeerStats() {
	check(gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 8192)
		if err != nil {
			return err
		}
		all, err := seg.Span(0, 4096)
		if err != nil {
			return err
		}
		next := gaspi.Rank((int(p.Rank()) + 1) % p.Size())
		if err := p.MustQueue(0).Write(seg.At(next, 4096), all); err != nil {
			return err
		}
		for s := range p.PeerStats() {
			if p.Rank() == 2 && s.Writes > 0 {
				fmt.Println(s.BytesWritten, "bytes to rank", s.Peer)
			}
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// 4096 bytes to rank 0
}

// A library counts its own operations beside those of package collectives.
func ExampleCollectiveCounter() {
	check(gaspi.Local(context.Background(), 1, gaspi.Config{}, func(_ context.Context, p *gaspi.Proc) error {
		shuffles := p.CollectiveCounter("shuffle", "direct")
		defer shuffles.Close()
		shuffles.Count(1 << 20)
		for _, s := range p.CollectiveStats() {
			fmt.Println(s.Operation, s.Algorithm, s.Calls, s.Bytes)
		}
		return nil
	}))
	// Output:
	// shuffle direct 1 1048576
}

// Code that writes by a Mapping counts what it does by itself.
func ExampleMappedStats() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if _, err := p.CreateSegment(ctx, 0, 64); err != nil {
			return err
		}
		if m, ok := p.Mapping(1-p.Rank(), 0); ok && p.Rank() == 0 {
			copied := uint64(copy(m.Data, "mapped"))
			p.CountMapped(func() gaspi.MappedStats {
				return gaspi.MappedStats{Peers: []gaspi.PeerStats{{Peer: 1, Writes: 1, BytesWritten: copied}}}
			})
			s := p.Stats()
			fmt.Println(s.Writes, "write of", s.BytesWritten, "bytes")
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// 1 write of 6 bytes
}

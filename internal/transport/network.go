package transport

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A TestNetwork is what a test puts between ranks that are goroutines of one process, in order
// to bring faults about: package faulty has one. No program links it.
type TestNetwork interface {
	// Begin says who runs the ranks. It comes before all other calls.
	Begin(l Launcher)
	// Join makes the transport of rank r, once per rank, on one that connects goroutines. It
	// may block until the rank is meant to come. lost, if not nil, is told of connections
	// that broke; it neither blocks nor calls the transport.
	Join(r base.Rank, below Transport, lost func(*base.RankError)) (Transport, error)
	// Host is the number of the host of rank r.
	Host(r base.Rank) int
	// Kill ends rank r at once, because another rank asks for it.
	Kill(r base.Rank)
}

// A Launcher is what a Network needs of whoever runs the ranks. Its functions do not block.
type Launcher struct {
	Kill     func(r base.Rank, reason error) // ends a rank and announces its end
	Announce func(r base.Rank, reason error) // announces the end of a rank that goes on
	Mute     func(r base.Rank)               // lets a rank hear nothing of the launcher any more
	Orphan   func(r base.Rank)               // makes a rank know that the launcher is gone
}

type networkKey struct{}

// WithNetwork returns a context that hands n to gaspi.Local.
func WithNetwork(ctx context.Context, n TestNetwork) context.Context {
	return context.WithValue(ctx, networkKey{}, n)
}

// NetworkOf returns the network of a context, nil if it has none.
func NetworkOf(ctx context.Context) TestNetwork {
	n, _ := ctx.Value(networkKey{}).(TestNetwork)
	return n
}

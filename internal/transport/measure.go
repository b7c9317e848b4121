package transport

import (
	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A Measurer is a transport whose connections the system measures.
type Measurer interface {
	// Measure calls see for each connection that is open, with its peer and its number among those to
	// that peer, which no later connection has. It does not wait for peers.
	Measure(see func(r base.Rank, connection int, m socket.Metrics))
}

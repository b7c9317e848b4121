package collectives

import (
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// OnNetwork changes a machine to what it is where a network is emulated, as a team does
// by itself: the model is the emulator's own, so nothing is measured. Cards move bytes
// by themselves.
func OnNetwork(m *Machine, n gaspi.Network) {
	overhead := n.Overhead.Seconds()
	m.Network = price.Link{Latency: (n.Latency + n.Jitter/2).Seconds(), Put: overhead, Signal: overhead}
	m.Bandwidth, m.SocketRate, m.Take = n.Bandwidth, 0, 0
}

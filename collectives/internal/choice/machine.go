package choice

import "github.com/gaspi-go/gaspi-go/internal/schedule/price"

// The figures of this file are of two virtual cores of a present processor. Decision 0042 has what choices gain by them.

// OnOneHost changes a machine to what it is where all ranks are on one host: sockets
// there have no wire, so that nearly all of a message is work of processors, which the
// ranks share.
func OnOneHost(m *price.Machine) {
	m.Network = price.Link{Latency: 0.5e-6, Put: 3.5e-6, Signal: 3.5e-6}
	m.Take = 2.5e-6
	m.Bandwidth = 20e9   // more than processors can move
	m.SendShare = 2. / 3 // whose system call also does what the receiver's card would make that one's system do
}

// OnSockets changes a machine to what it is where so many ranks of one host meet in sockets. Ranks with a core of their
// own find in its caches what has come; where they share cores, others evict it.
func OnSockets(m *price.Machine, ranks int) {
	switch {
	case m.SocketRate == 0: // the network is emulated
	case ranks <= m.Cores:
		m.SocketRate = 12e9
	default:
		m.ReduceRate, m.CopyRate = 12e9, 15e9
	}
}

// Crowd changes a machine to what it is where so many ranks share the memory and the cores of a host. One that gives its
// core away gets it back when all others of the core have looked for what they wait for, mostTurns of them at most. And it
// finds in the caches what others have left there, so that to see what one more peer has posted takes reads from
// further away: with 64 ranks a core an allreduce of 16 KiB by direct, in which each awaits 127 others twice, takes
// 26 ms, as one of 128 KiB does, and by leaders 3.
func Crowd(m *price.Machine, ranks int) {
	ofCore := ranks / max(m.Cores, 1)
	m.Switch *= float64(min(max(ofCore, 1), mostTurns))
	switch {
	case ofCore >= 64:
		m.Await += 1.5e-6
	case ofCore >= 8:
		m.Await += 0.3e-6
	}
}

// mostTurns is how many ranks of a core take turns in what Crowd says.
const mostTurns = 8

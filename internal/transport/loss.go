package transport

import (
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// LossMost is how long after the last sign of life of a peer's host a transport over sockets
// has lost the peer at the latest, where a host may be silent for silence. An idle connection
// is probed in whole seconds, which socket.LeastSilence bounds; it is looked at every quarter of
// the silence; and attempts to connect end within the silence and two quarters, of which one
// is a last attempt.
func LossMost(silence time.Duration) time.Duration { return max(silence, socket.LeastSilence) * 3 / 2 }

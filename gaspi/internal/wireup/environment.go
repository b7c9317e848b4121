package wireup

import (
	"fmt"
	"os"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// EnvCongestion names the variable of the congestion control of TCP connections.
const EnvCongestion = "GASPI_TCP_CONGESTION"

// CheckEnvironment returns an error that names the first variable of the environment that makes
// no sense. Those that fields of Config stand for are checked with them.
func CheckEnvironment() error {
	if err := boot.CheckVariables(); err != nil {
		return err
	}
	if name := os.Getenv(EnvCongestion); name != "" {
		if err := socket.CheckCongestion(name); err != nil {
			return fmt.Errorf("%s=%.80q: %w; expected one that sysctl net.ipv4.tcp_allowed_congestion_control lists, such as cubic", EnvCongestion, name, err)
		}
	}
	return nil
}

// forever is a silence that no job outlasts. Longer ones do not fit into an option of a
// socket, which has milliseconds.
const forever = 20 * 24 * time.Hour

// silence is how long a peer's host may be silent, 0 for the transport's default. A
// heartbeat of 0 is for ever.
func silence() time.Duration {
	d, err := time.ParseDuration(os.Getenv(boot.EnvHeartbeat))
	switch {
	case err != nil:
		return 0
	case d == 0:
		return forever
	}
	return d
}

// LossMost is how long after the last sign of life of a peer's host transports call the peer lost
// at the latest; 0 if they never do unless its connections end.
func LossMost() time.Duration {
	switch s := silence(); s {
	case forever:
		return 0
	case 0:
		return transport.LossMost(boot.DefaultHeartbeat)
	default:
		return transport.LossMost(s)
	}
}

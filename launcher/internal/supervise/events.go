package supervise

import (
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A RankEnded is reported once for each rank: it has ended, or it will never be started.
type RankEnded struct {
	Rank  base.Rank
	PID   int // 0: it was not started
	Exit  sys.Exit
	Why   string // what it was killed for, when Ranks did it for a reason of its own
	After time.Duration
	Err   error  // its end was not seen, but it is gone
	Lost  string // its host is lost for that reason, as package launcher reports it
}

// A RankStopped is reported when a rank was stopped and the job was not.
type RankStopped struct {
	Rank  base.Rank
	PID   int
	Sig   syscall.Signal
	Limit time.Duration // after which it is killed; 0 for never
}

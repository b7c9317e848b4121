package peer

import (
	"strconv"
	"time"
)

// EnvBegan tells ranks when their job was begun: in nanoseconds since 1970, by the clock of the host.
const EnvBegan = "GASPI_BENCH_BEGAN"

// Startup is the operation whose points, of no size, are the parts of a start.
const (
	Startup      = "startup"
	Init         = "init"          // until all ranks have joined the job
	FirstBarrier = "first-barrier" // from then until all have left their first barrier
	Started      = "started"       // both
)

// Began returns the variable of the environment that says that a job was begun at a time.
func Began(at time.Time) string { return EnvBegan + "=" + strconv.FormatInt(at.UnixNano(), 10) }

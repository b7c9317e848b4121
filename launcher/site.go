package launcher

import (
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A site is one host as the job sees it: a crew of this process, or an agent at
// the other end of a connection. A site reports changes of its ranks as events, from any
// goroutine; the events of one rank come in their order, and the ends of ranks in the order in
// which they happened.
type site interface {
	// start starts the ranks and returns when all have begun to execute the
	// program, or why not all have. Either way one rankEnded is reported for
	// each rank in the end.
	start() error

	// begunRanks is how many ranks have been started so far, as far as is known.
	begunRanks() int

	// signal sends sig to all ranks and their children. A signal that ends the
	// job keeps ranks that are not started yet from being started.
	signal(sig syscall.Signal)

	// kill ends one rank alone, now or as soon as it is started.
	kill(r Rank) error

	// finish ends what the ranks have left behind, once all have ended. It
	// returns when nothing is left, or early when hurry is closed.
	finish(hurry <-chan struct{})

	// close lets the site go.
	close()
}

// A rankEnded is reported once for each rank of a site: it has ended, or it will
// never be started.
type rankEnded struct {
	rank  Rank
	pid   int // 0: it was not started
	exit  sys.Exit
	why   string // what it was killed for, when the site itself did it
	after time.Duration
	err   error  // its end was not seen, but it is gone
	lost  string // its site is lost for that reason
}

// A rankStopped is reported when a rank was stopped and the job was not.
type rankStopped struct {
	rank  Rank
	pid   int
	sig   syscall.Signal
	limit time.Duration // after which it is killed; 0 for never
}

// A ranksMissing says which ranks have not joined for a while, although others have.
type ranksMissing struct {
	sentence string
}

// A siteStarted is what start of a site has returned.
type siteStarted struct {
	err error
}

// A siteLost is reported when a site can no longer be reached. Nothing else is
// reported for the ranks that it names: they are gone as far as anybody can tell.
type siteLost struct {
	reason string // such as "host b is lost: no sign of life for 10 s"
	ranks  []rankEnded
}

// A nodeDemands is reported when the user of another node wants the job to end.
type nodeDemands struct {
	title  string // of the node, for the user
	demand demand
}

package launcher

import (
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A site is one host as the job sees it: the ranks of this process, or an agent at
// the other end of a connection. A site reports changes of its ranks as events, from any
// goroutine; the events of one rank come in their order, and the ends of ranks in the order in
// which they happened.
type site interface {
	// Start starts the ranks and returns when all have begun to execute the
	// program, or why not all have. Either way one supervise.RankEnded is reported for
	// each rank in the end.
	Start() error

	// Begun is how many ranks have been started so far, as far as is known.
	Begun() int

	// Signal sends sig to all ranks and their children. A signal that ends the
	// job keeps ranks that are not started yet from being started.
	Signal(sig syscall.Signal)

	// Rows returns what each rank tells of itself, in times of this host; the zero RankRow of one that has
	// told nothing. It blocks for as long as an agent may take to answer.
	Rows() []status.RankRow

	// Measured returns what each rank has measured of connections and processors, and the kernel of each rank;
	// nil where none was asked to. It blocks like Rows.
	Measured() ([]netstat.Measures, supervise.KernelReport)

	// Tables returns the table of each rank as package status has it, nil of one that has told nothing. It
	// blocks as Rows does.
	Tables() [][]byte
	// Recorded returns what a rank has recorded for the timeline, in the form of package trace, when it
	// has ended: nil if nothing is recorded. It blocks for recordPatience at most.
	Recorded(r Rank) ([]byte, error)

	// Kill ends one rank alone, now or as soon as it is started.
	Kill(r Rank) error

	// Finish ends what the ranks have left behind, once all have ended. It
	// returns when nothing is left, or early when hurry is closed.
	Finish(hurry <-chan struct{})

	// Close lets the site go.
	Close()
}

package supervise

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
)

// The numbers under which a rank inherits files beside its standard ones.
const (
	// BootFD is its line to the launcher, or the file with the key of the job.
	BootFD = 3
	// ProgramFD is the file of its program, if that is a script without a name: its
	// interpreter opens it.
	ProgramFD = 4
)

// A Command is what all ranks execute.
type Command struct {
	Path string   // of the executable file
	Name string   // argument 0
	Args []string // after it
	Dir  string   // where ranks start; empty: where this process is
	File *os.File // what ranks inherit as ProgramFD; nil for nothing

	Inherited []string // environment, of which Added and own variables of a rank replace entries
	Added     []string

	Check   func() error      // returns why the file cannot be executed, if the system would not say so
	Explain func(error) error // returns what the error of a start means: a StartError, if it is one
}

// A Task says which ranks run on this host, and how. Files, Link, Report and Log may be called
// from any goroutine.
type Task struct {
	Command  Command
	First    base.Rank     // ranks have consecutive numbers
	Own      [][]string    // the variables by which each rank knows who it is
	Cores    bool          // each rank is bound to one core: see CoreOf
	Grace    time.Duration // how long leftovers may take to end before they are killed; not positive: no time
	JobRanks int           // of the whole job; 0: ranks tell nothing of themselves
	Measure  bool          // ranks tell what connections and processors do, too
	Slots    int           // how many records of what it did a rank keeps; 0 for none
	Stopped  time.Duration // how long a rank may be stopped before it is killed; 0 for ever
	Adopt    bool          // end processes that leave their group; needs process.AdoptOrphans
	Debug    []base.Rank   // those that are started in a debugger

	Files  func(r base.Rank) (*stdio.Files, error) // opens the standard files of a rank
	Probe  func() (Prober, error)                  // with Measure, opens what has the kernel measure ranks; nil for nothing
	Link   func(r base.Rank) (*os.File, error)     // opens what it inherits as BootFD
	Report func(event any)                         // hears a RankEnded of each rank in the end, each RankStopped, and each RankDebugged
	Log    func(line string)

	Thread   *Thread
	Children *Children
}

// A RankEnded is reported once for each rank: it has ended, or it will never be started. Agents
// send it to the launcher.
type RankEnded struct {
	Rank    base.Rank
	PID     int // 0: it was not started
	Exit    process.Exit
	Why     string // what it was killed for, when Ranks did it for a reason of its own
	After   time.Duration
	Problem string // why its end was not seen, although it is gone
	Lost    string // its host is lost for that reason, as package launcher reports it
}

// A RankStopped is reported when a rank was stopped and the job was not. Agents send it to the
// launcher.
type RankStopped struct {
	Rank  base.Rank
	PID   int
	Sig   syscall.Signal
	Limit time.Duration // after which it is killed; 0 for never
}

// ErrEnded says that the ranks were told to end before all were started.
var ErrEnded = errors.New("the job has ended before all ranks were started")

// A StartError says in one sentence why no rank of a program can be started.
type StartError struct {
	Kind     error // that it wraps
	Sentence string
}

// Error returns the sentence.
func (e *StartError) Error() string { return e.Sentence }

// Unwrap returns the kind.
func (e *StartError) Unwrap() error { return e.Kind }

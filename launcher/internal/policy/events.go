package policy

import (
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Events beside those of package supervise.
type (
	// A SiteStarted says what the start of the ranks of one host has returned.
	SiteStarted struct{ Err error }
	// A SiteLost says that a host can no longer be reached. No other event comes for the ranks that it
	// names: they are gone as far as anybody can tell.
	SiteLost struct {
		Reason string // such as "host b is lost: no sign of life for 10 s"
		Ranks  []supervise.RankEnded
	}
	// A NodeDemands says that the user of another node wants the job to end.
	NodeDemands struct {
		Title    string         // of the node, for the user
		Signal   syscall.Signal // that the node got, or 0
		ExitCode int
		Reason   string
	}
	// A Stalled says that a wait of a rank has lasted for as long as it may.
	Stalled struct {
		After          time.Duration
		Cause, Details string // lines
	}
	// A Notice is something that the user is to read, whatever becomes of the job.
	Notice struct{ Text string }
	// A UserSignal is a signal that this process got.
	UserSignal struct{ Signal syscall.Signal }
	// A TimedOut says that the job has run for as long as it may.
	TimedOut struct{}
	// A ContextEnded says that the caller has ended the job.
	ContextEnded struct{ Cause error }
	// An OutputFailed says that what ranks print cannot be written.
	OutputFailed struct{ Err error }
	// A StacksGathered says in a sentence what came of GatherStacks.
	StacksGathered struct{ Text string }
	// A GraceOver says that ranks have had the time for which KillLater has asked.
	GraceOver struct{}
	// A NoticeDue says that the user is to read why the job fails, although ranks still run.
	NoticeDue struct{}
	// A LossWeighed answers Weigh.
	LossWeighed struct {
		Rank base.Rank
		Loss string // what may have ended the rank, as a part of a sentence; may be empty
	}
)

// Actions are what Decide has a job do, in their order.
type (
	// A SignalRanks sends a signal to all ranks.
	SignalRanks struct{ Signal syscall.Signal }
	// A GatherStacks asks all ranks for their stacks, and for StacksGathered then.
	GatherStacks struct{}
	// A KillLater asks for GraceOver after a time.
	KillLater struct{ After time.Duration }
	// A TellLater asks for NoticeDue after a time.
	TellLater struct{ After time.Duration }
	// A Say tells the user a sentence.
	Say struct{ Sentence string }
	// A LogLine is a line for whoever wants to know everything.
	LogLine struct{ Line string }
	// An Announce tells all ranks how one has ended.
	Announce struct{ Failure boot.Failure }
	// A Weigh asks for LossWeighed of a rank whose end was announced, and whose last words
	// are known because of that.
	Weigh struct{ Exit RankExit }
	// A Look asks for a Notice that says what the ranks do.
	Look struct{}
	// An AllStarted ends the line about ranks that are being started.
	AllStarted struct{}
	// A Suspend stops this process until it is continued; time limits stand still.
	Suspend struct{}
	// A Resume lets time limits go on.
	Resume struct{}
)

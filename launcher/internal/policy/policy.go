// Package policy decides what the events of a job mean for its ranks and its user: which signals are
// sent, what the user reads, and what the exit code is.
//
// It knows neither processes nor connections: package launcher reports events, and does what it says.
package policy

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Rules are what the user of a job has said of its end.
type Rules struct {
	Ranks     int
	Continue  bool          // the failure of a rank does not end the others
	KillGrace time.Duration // how long ranks that were told to end may take; negative: no time
	Timeout   time.Duration // of the job, for the sentence about its end

	StallAbort bool // a wait that lasts too long ends the job
	Stacks     bool // of ranks are asked for before these are told to end, and when the user asks what they do
}

// A Policy decides what the events of a job mean for its ranks and its user. It is pure: it
// takes events in their order and returns actions, and does no I/O, reads no clock and waits for
// nobody. The job feeds it and does what it says.
type Policy struct {
	rules Rules

	starting  int              // sites whose start has not returned
	running   int              // ranks whose end was not reported
	held      []syscall.Signal // for the ranks, once all are started
	startErr  error
	exits     []RankExit // index is the rank
	gone      []bool     // index is the rank: its end was reported
	first     *RankExit  // the first rank to fail
	cause     *cause
	ending    bool           // the ranks were told to end, or are asked for their stacks before that
	owed      syscall.Signal // for the ranks, once their stacks are there; 0 for none
	quitAt    time.Duration  // when the last SIGQUIT came that was not handed on
	interrupt syscall.Signal // the signal that ended the job, or 0

	actions []any // of the event that is being decided
}

// New returns the policy of a job that has not started.
func New(rules Rules) *Policy {
	p := &Policy{rules: rules, running: rules.Ranks, exits: make([]RankExit, rules.Ranks), gone: make([]bool, rules.Ranks)}
	for r := range p.exits {
		p.exits[r].Rank = base.Rank(r)
	}
	return p
}

// Begin says that ranks are being started on so many hosts, each of which is a SiteStarted in the end.
func (p *Policy) Begin(sites int) { p.starting = sites }

// GiveUp says why nothing is started. No event follows.
func (p *Policy) GiveUp(err error) { p.startErr = err }

// Starting reports whether ranks are being started.
func (p *Policy) Starting() bool { return p.starting > 0 }

// Over reports whether every rank has ended, so that no event can change anything.
func (p *Policy) Over() bool { return p.running == 0 && p.starting == 0 }

// Ending reports whether the ranks were told to end.
func (p *Policy) Ending() bool { return p.ending }

// Interrupted reports whether a user has ended the job by a signal.
func (p *Policy) Interrupted() bool { return p.interrupt != 0 }

// Decide returns what is to be done because of an event. since is the time since the start of
// the job.
func (p *Policy) Decide(event any, since time.Duration) []any {
	p.actions = nil
	switch e := event.(type) {
	case SiteStarted:
		p.siteStarted(e)
	case supervise.RankEnded:
		p.rankEnded(e)
	case LossWeighed:
		p.rankFailed(e)
	case supervise.RankStopped:
		p.rankStopped(e)
	case supervise.RankDebugged:
		p.do(Say{fmt.Sprintf("rank %d waits for its debugger to be told to go on: %s", e.Rank, e.Attach)})
	case SiteLost:
		p.siteLost(e, since)
	case Notice:
		p.do(Say{e.Text})
	case NodeDemands:
		p.demanded(e, since)
	case UserSignal:
		p.signalled(e.Signal, since)
	case Stalled:
		p.stalled(e)
	case TimedOut:
		p.fail(cause{code: 124, what: fmt.Sprintf("timed out after %v", p.rules.Timeout), everyone: true, fatal: true})
	case ContextEnded:
		p.fail(cause{code: 1, what: "stopped: " + e.Cause.Error(), everyone: true, fatal: true})
	case OutputFailed:
		p.outputFailed(e.Err)
	case StacksGathered:
		p.stacksGathered(e)
	case GraceOver:
		p.do(LogLine{"killing the ranks that are still running"})
		p.kill()
	case NoticeDue:
		p.tell()
	}
	return p.actions
}

func (p *Policy) do(a any) { p.actions = append(p.actions, a) }

// siteStarted counts the sites, and gives up when one cannot start its ranks.
func (p *Policy) siteStarted(e SiteStarted) {
	if p.starting--; p.starting == 0 {
		p.do(AllStarted{})
	}
	if e.Err != nil && p.startErr == nil && !p.ending {
		p.startErr = e.Err
		p.kill()
	}
	if p.starting > 0 || p.ending {
		return
	}
	for _, sig := range p.held {
		p.do(SignalRanks{sig})
	}
	p.held = nil
}

// rankEnded notes the end of a rank, and asks for what may have been its reason if that is a
// failure.
func (p *Policy) rankEnded(e supervise.RankEnded) {
	if p.note(e) && e.PID != 0 && p.exits[e.Rank].Failed() && !p.ending {
		p.do(Weigh{p.exits[e.Rank]})
	}
}

// rankFailed decides what the failure of a rank means for the others.
func (p *Policy) rankFailed(e LossWeighed) {
	exit := p.exits[e.Rank]
	if p.first == nil {
		p.first = &exit
	}
	p.fail(cause{code: exit.Code(), what: exit.describe(), after: exit.After, loss: e.Loss, fatal: !p.rules.Continue})
}

// siteLost decides what the loss of a host means: all its ranks have failed, and
// the user reads one sentence.
func (p *Policy) siteLost(e SiteLost, since time.Duration) {
	var lost []base.Rank
	for _, r := range e.Ranks {
		if p.note(r) {
			lost = append(lost, r.Rank)
		}
	}
	if len(lost) == 0 || p.ending {
		p.do(LogLine{e.Reason})
		return
	}
	if p.first == nil {
		first := p.exits[lost[0]]
		p.first = &first
	}
	p.fail(cause{code: 1, what: e.Reason, after: since, fatal: !p.rules.Continue})
}

// unstarted says how a rank has ended that never began.
const unstarted = "it was not started"

// note notes the end of a rank and has it announced, once.
func (p *Policy) note(e supervise.RankEnded) bool {
	if p.gone[e.Rank] {
		return false
	}
	p.gone[e.Rank] = true
	p.running--
	if e.PID == 0 && e.Lost == "" {
		p.do(Announce{boot.Failure{Rank: e.Rank, Reason: unstarted}})
		return true
	}
	exit := &p.exits[e.Rank]
	exit.PID, exit.Status, exit.Signal, exit.Core = e.PID, e.Exit.Status, e.Exit.Signal, e.Exit.Core
	exit.After, exit.Ended, exit.Why, exit.Lost = e.After, p.ending, e.Why, e.Lost
	if e.Lost != "" {
		exit.Status = 1
	}
	if e.Problem != "" { // not seen to happen; the rank must count as failed
		exit.Status, exit.Lost = 1, "its end cannot be seen: "+e.Problem
	}
	p.do(LogLine{exit.describe() + " after " + phrase.Seconds(exit.After)})
	p.do(Announce{boot.Failure{Rank: e.Rank, Left: !exit.Failed(), Reason: exit.reason()}})
	return true
}

// rankStopped tells the user, who may have meant it.
func (p *Policy) rankStopped(e supervise.RankStopped) {
	if p.ending {
		return
	}
	sentence := fmt.Sprintf("rank %d (pid %d) is stopped by signal %d (%v)", e.Rank, e.PID, int(e.Sig), e.Sig)
	if e.Limit > 0 {
		sentence += fmt.Sprintf("; it is killed if it does not go on within %s", phrase.Limit(e.Limit))
	}
	p.do(Say{sentence})
}

// signalled passes a signal on, or ends the job.
func (p *Policy) signalled(sig syscall.Signal, since time.Duration) {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		p.interruptedBy(sig, "", since)
	case syscall.SIGTSTP:
		p.do(SignalRanks{syscall.SIGTSTP})
		p.do(Suspend{})
	case syscall.SIGCONT:
		p.do(Resume{})
		p.do(SignalRanks{syscall.SIGCONT})
	case syscall.SIGPIPE:
		// The write that caused it has failed too, and says so.
	case syscall.SIGQUIT:
		p.quit(since)
	default:
		if p.starting > 0 {
			p.held = append(p.held, sig)
			return
		}
		p.do(SignalRanks{sig})
	}
}

// again is how soon a second SIGQUIT comes that is for the ranks.
const again = 3 * time.Second

// quit tells the user what the ranks do, and hands a second SIGQUIT on.
func (p *Policy) quit(since time.Duration) {
	if p.quitAt > 0 && since-p.quitAt < again {
		p.do(SignalRanks{syscall.SIGQUIT})
		return
	}
	p.quitAt = since
	p.do(Look{})
	p.askStacks()
}

// stalled tells the user what holds up the ranks, and ends the job if it is to.
func (p *Policy) stalled(e Stalled) {
	if p.ending {
		return
	}
	sentence := fmt.Sprintf("no progress for %s: %s", phrase.Seconds(e.After), e.Cause)
	p.do(Say{sentence + "\n" + e.Details})
	if !p.rules.StallAbort {
		p.askStacks()
	}
	if p.rules.StallAbort {
		p.fail(cause{code: 124, what: sentence, everyone: true, fatal: true})
	}
}

// askStacks asks for the stacks of ranks that go on.
func (p *Policy) askStacks() {
	if p.rules.Stacks && !p.ending {
		p.do(GatherStacks{})
	}
}

// Ends returns how each rank has ended, in words; an element is empty while the rank runs.
func (p *Policy) Ends() []string {
	ends := make([]string, len(p.gone))
	for r, gone := range p.gone {
		switch exit := p.exits[r]; {
		case gone && exit.PID == 0 && exit.Lost == "":
			ends[r] = unstarted
		case gone:
			ends[r] = exit.reason()
		}
	}
	return ends
}

// interruptedBy ends the job for a signal that a user has sent; where says to what, if
// that is not this process.
func (p *Policy) interruptedBy(sig syscall.Signal, where string, since time.Duration) {
	if p.interrupt != 0 {
		p.kill() // the user has asked twice
		return
	}
	p.interrupt = sig
	p.blame(cause{code: 128 + int(sig), what: "interrupted by " + supervise.EndSignals[sig] + where, after: since, everyone: true, fatal: true})
	if p.ending {
		p.do(SignalRanks{sig})
	}
	p.end(sig)
}

// demanded does what another node wants.
func (p *Policy) demanded(e NodeDemands, since time.Duration) {
	where := " at " + e.Title
	if supervise.EndSignals[e.Signal] != "" {
		p.interruptedBy(e.Signal, where, since)
		return
	}
	p.fail(cause{code: max(e.ExitCode, 1), what: e.Reason + where, everyone: true, fatal: true})
}

// outputFailed ends a job whose output nobody reads, as a broken pipe would end
// a single program.
func (p *Policy) outputFailed(err error) {
	c := cause{code: 1, what: fmt.Sprintf("cannot write the output: %v", err), everyone: true, fatal: true}
	if errors.Is(err, syscall.EPIPE) {
		c.code, c.told = 128+int(syscall.SIGPIPE), true
	}
	p.fail(c)
}

// fail records why the job fails, and ends the ranks that still run if the
// reason is fatal.
func (p *Policy) fail(c cause) {
	p.blame(c)
	if c.fatal {
		p.end(syscall.SIGTERM)
	}
}

// blame records a cause. The first one decides the exit code; a fatal one that
// comes after one that was not replaces what there is to tell.
func (p *Policy) blame(c cause) {
	c.peers = p.running
	if p.cause != nil {
		if p.cause.fatal || !c.fatal {
			return
		}
		c.code = p.cause.code
	}
	p.cause = &c
	if c.fatal {
		p.do(TellLater{noticeDelay})
	} else {
		p.tell()
	}
}

// tell says why the job fails, once.
func (p *Policy) tell() {
	if p.cause.told {
		return
	}
	p.cause.told = true
	p.do(Say{p.cause.sentence(p.running == 0)})
}

// end tells the ranks to end, and kills them if they take too long. It does nothing where none is left.
func (p *Policy) end(sig syscall.Signal) {
	if p.ending || p.Over() {
		return
	}
	if p.rules.KillGrace < 0 {
		p.kill()
		return
	}
	p.ending = true
	if p.rules.Stacks && p.interrupt == 0 {
		p.owed = sig
		p.do(GatherStacks{})
		return
	}
	p.terminate(sig)
}

// stacksGathered tells ranks to end that were left alone for their stacks.
func (p *Policy) stacksGathered(e StacksGathered) {
	p.do(Say{e.Text})
	if p.owed != 0 {
		p.terminate(p.owed)
		p.owed = 0
	}
}

// terminate sends the ranks the signal by which they end.
func (p *Policy) terminate(sig syscall.Signal) {
	p.do(SignalRanks{sig})
	p.do(SignalRanks{syscall.SIGCONT}) // one that is stopped could not act on it
	p.do(KillLater{p.rules.KillGrace})
}

func (p *Policy) kill() {
	p.ending = true
	p.do(SignalRanks{syscall.SIGKILL})
}

// Exits returns how all ranks have ended, and the first one that failed by itself, nil if none did. It is
// called when the job is over.
func (p *Policy) Exits() (all []RankExit, first *RankExit) { return p.exits, p.first }

// Verdict returns how the job has ended: the exit code and why that is not 0, or why the job did not
// run. It is called when nothing more can happen.
func (p *Policy) Verdict() (code int, sentence string, err error) {
	switch {
	case p.startErr != nil:
		return 0, "", p.startErr
	case p.cause != nil:
		return p.cause.code, p.cause.sentence(true), nil
	}
	return 0, "", nil
}

package launcher

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/launcher/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A policy decides what the events of a job mean for its ranks and its user. It is pure: it
// takes events in their order and returns actions, and does no I/O, reads no clock and waits for
// nobody. The job feeds it and does what it says.
type policy struct {
	onFailure OnFailure
	killGrace time.Duration
	timeout   time.Duration

	stallAbort bool // a wait that lasts too long ends the job
	stacks     bool // of ranks are asked for before these are told to end, and when the user asks what they do

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

	actions []action // of the event that is being decided
}

// Events beside those of sites; see site.go.
type (
	// A userSignal is a signal that this process got.
	userSignal struct{ signal syscall.Signal }
	// A timedOut says that the job has run for as long as it may.
	timedOut struct{}
	// A contextEnded says that the caller has ended the job.
	contextEnded struct{ cause error }
	// An outputFailed says that what ranks print cannot be written.
	outputFailed struct{ err error }
	// A stacksGathered says in a sentence what came of gatherStacks.
	stacksGathered struct{ text string }
	// A graceOver says that ranks have had the time for which killLater has asked.
	graceOver struct{}
	// A noticeDue says that the user is to read why the job fails, although ranks still run.
	noticeDue struct{}
	// A lossWeighed answers weigh.
	lossWeighed struct {
		rank Rank
		loss string // what may have ended the rank, as a part of a sentence; may be empty
	}
)

// An action is something that a job is to do. Actions are done in their order.
type action any

// Actions are these.
type (
	// A signalRanks sends a signal to all ranks.
	signalRanks struct{ signal syscall.Signal }
	// A gatherStacks asks all ranks for their stacks, and for stacksGathered then.
	gatherStacks struct{}
	// A killLater asks for graceOver after a time.
	killLater struct{ after time.Duration }
	// A tellLater asks for noticeDue after a time.
	tellLater struct{ after time.Duration }
	// A say tells the user a sentence.
	say struct{ sentence string }
	// A logLine is a line for whoever wants to know everything.
	logLine struct{ line string }
	// An announce tells all ranks how one has ended.
	announce struct{ failure boot.Failure }
	// A weigh asks for lossWeighed of a rank whose end was announced, and whose last words
	// are known because of that.
	weigh struct{ rank Rank }
	// A look asks for looked.
	look struct{}
	// An allStarted ends the line about ranks that are being started.
	allStarted struct{}
	// A suspend stops this process until it is continued; time limits stand still.
	suspend struct{}
	// A resume lets time limits go on.
	resume struct{}
)

func newPolicy(cfg Config) *policy {
	p := &policy{
		stallAbort: cfg.StallAbort, stacks: cfg.Stacks != "", onFailure: cfg.OnFailure, killGrace: cfg.KillGrace, timeout: cfg.Timeout,
		running: cfg.Ranks, exits: make([]RankExit, cfg.Ranks), gone: make([]bool, cfg.Ranks),
	}
	for r := range p.exits {
		p.exits[r].Rank = Rank(r)
	}
	return p
}

// over reports whether every rank has ended, so that no event can change anything.
func (p *policy) over() bool { return p.running == 0 && p.starting == 0 }

// decide returns what is to be done because of an event. since is the time since the start of
// the job.
func (p *policy) decide(event any, since time.Duration) []action {
	p.actions = nil
	switch e := event.(type) {
	case siteStarted:
		p.siteStarted(e)
	case supervise.RankEnded:
		p.rankEnded(e)
	case lossWeighed:
		p.rankFailed(e)
	case supervise.RankStopped:
		p.rankStopped(e)
	case supervise.RankDebugged:
		p.do(say{fmt.Sprintf("rank %d waits for its debugger to be told to go on: %s", e.Rank, e.Attach)})
	case siteLost:
		p.siteLost(e, since)
	case ranksMissing:
		p.do(say(e))
	case nodeDemands:
		p.demanded(e, since)
	case userSignal:
		p.signalled(e.signal, since)
	case looked:
		p.do(say{e.text})
	case stalled:
		p.stalled(e)
	case timedOut:
		p.fail(cause{code: 124, what: fmt.Sprintf("timed out after %v", p.timeout), everyone: true, fatal: true})
	case contextEnded:
		p.fail(cause{code: 1, what: "stopped: " + e.cause.Error(), everyone: true, fatal: true})
	case outputFailed:
		p.outputFailed(e.err)
	case stacksGathered:
		p.stacksGathered(e)
	case graceOver:
		p.do(logLine{"killing the ranks that are still running"})
		p.kill()
	case noticeDue:
		p.tell()
	}
	return p.actions
}

func (p *policy) do(a action) { p.actions = append(p.actions, a) }

// siteStarted counts the sites, and gives up when one cannot start its ranks.
func (p *policy) siteStarted(e siteStarted) {
	if p.starting--; p.starting == 0 {
		p.do(allStarted{})
	}
	if e.err != nil && p.startErr == nil && !p.ending {
		p.startErr = e.err
		p.kill()
	}
	if p.starting > 0 || p.ending {
		return
	}
	for _, sig := range p.held {
		p.do(signalRanks{sig})
	}
	p.held = nil
}

// rankEnded notes the end of a rank, and asks for what may have been its reason if that is a
// failure.
func (p *policy) rankEnded(e supervise.RankEnded) {
	if p.note(e) && e.PID != 0 && p.exits[e.Rank].Failed() && !p.ending {
		p.do(weigh{e.Rank})
	}
}

// rankFailed decides what the failure of a rank means for the others.
func (p *policy) rankFailed(e lossWeighed) {
	exit := p.exits[e.rank]
	if p.first == nil {
		p.first = &exit
	}
	p.fail(cause{code: exit.Code(), what: exit.describe(), after: exit.After, loss: e.loss, fatal: p.onFailure == Abort})
}

// siteLost decides what the loss of a host means: all its ranks have failed, and
// the user reads one sentence.
func (p *policy) siteLost(e siteLost, since time.Duration) {
	var lost []Rank
	for _, r := range e.ranks {
		if p.note(r) {
			lost = append(lost, r.Rank)
		}
	}
	if len(lost) == 0 || p.ending {
		p.do(logLine{e.reason})
		return
	}
	if p.first == nil {
		first := p.exits[lost[0]]
		p.first = &first
	}
	p.fail(cause{code: 1, what: e.reason, after: since, fatal: p.onFailure == Abort})
}

// note notes the end of a rank and has it announced, once.
func (p *policy) note(e supervise.RankEnded) bool {
	if p.gone[e.Rank] {
		return false
	}
	p.gone[e.Rank] = true
	p.running--
	if e.PID == 0 && e.Lost == "" {
		p.do(announce{boot.Failure{Rank: e.Rank, Reason: "it was not started"}})
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
	p.do(logLine{exit.describe() + " after " + phrase.Seconds(exit.After)})
	p.do(announce{boot.Failure{Rank: e.Rank, Left: !exit.Failed(), Reason: exit.reason()}})
	return true
}

// rankStopped tells the user, who may have meant it.
func (p *policy) rankStopped(e supervise.RankStopped) {
	if p.ending {
		return
	}
	sentence := fmt.Sprintf("rank %d (pid %d) is stopped by signal %d (%v)", e.Rank, e.PID, int(e.Sig), e.Sig)
	if e.Limit > 0 {
		sentence += fmt.Sprintf("; it is killed if it does not go on within %s", phrase.Limit(e.Limit))
	}
	p.do(say{sentence})
}

// signalled passes a signal on, or ends the job.
func (p *policy) signalled(sig syscall.Signal, since time.Duration) {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		p.interruptedBy(sig, "", since)
	case syscall.SIGTSTP:
		p.do(signalRanks{syscall.SIGTSTP})
		p.do(suspend{})
	case syscall.SIGCONT:
		p.do(resume{})
		p.do(signalRanks{syscall.SIGCONT})
	case syscall.SIGPIPE:
		// The write that caused it has failed too, and says so.
	case syscall.SIGQUIT:
		p.quit(since)
	default:
		if p.starting > 0 {
			p.held = append(p.held, sig)
			return
		}
		p.do(signalRanks{sig})
	}
}

// again is how soon a second SIGQUIT comes that is for the ranks.
const again = 3 * time.Second

// quit tells the user what the ranks do, and hands a second SIGQUIT on.
func (p *policy) quit(since time.Duration) {
	if p.quitAt > 0 && since-p.quitAt < again {
		p.do(signalRanks{syscall.SIGQUIT})
		return
	}
	p.quitAt = since
	p.do(look{})
	p.askStacks()
}

// stalled tells the user what holds up the ranks, and ends the job if it is to.
func (p *policy) stalled(e stalled) {
	if p.ending {
		return
	}
	sentence := fmt.Sprintf("no progress for %s: %s", phrase.Seconds(e.after), e.cause)
	p.do(say{sentence + "\n" + e.details})
	if !p.stallAbort {
		p.askStacks()
	}
	if p.stallAbort {
		p.fail(cause{code: 124, what: sentence, everyone: true, fatal: true})
	}
}

// askStacks asks for the stacks of ranks that go on.
func (p *policy) askStacks() {
	if p.stacks && !p.ending {
		p.do(gatherStacks{})
	}
}

// ends returns what has become of each rank.
func (p *policy) ends() []end {
	ends := make([]end, len(p.gone))
	for r, gone := range p.gone {
		if ends[r].gone = gone; gone {
			ends[r].why = p.exits[r].reason()
		}
		if gone && p.exits[r].PID == 0 && p.exits[r].Lost == "" {
			ends[r].why = "it was not started"
		}
	}
	return ends
}

// interruptedBy ends the job for a signal that a user has sent; where says to what, if
// that is not this process.
func (p *policy) interruptedBy(sig syscall.Signal, where string, since time.Duration) {
	if p.interrupt != 0 {
		p.kill() // the user has asked twice
		return
	}
	p.interrupt = sig
	p.blame(cause{code: 128 + int(sig), what: "interrupted by " + supervise.EndSignals[sig] + where, after: since, everyone: true, fatal: true})
	if p.ending {
		p.do(signalRanks{sig})
	}
	p.end(sig)
}

// demanded does what another node wants.
func (p *policy) demanded(e nodeDemands, since time.Duration) {
	where := " at " + e.title
	if sig := syscall.Signal(e.demand.Signal); supervise.EndSignals[sig] != "" {
		p.interruptedBy(sig, where, since)
		return
	}
	p.fail(cause{code: max(e.demand.Code, 1), what: e.demand.What + where, everyone: true, fatal: true})
}

// outputFailed ends a job whose output nobody reads, as a broken pipe would end
// a single program.
func (p *policy) outputFailed(err error) {
	c := cause{code: 1, what: fmt.Sprintf("cannot write the output: %v", err), everyone: true, fatal: true}
	if errors.Is(err, syscall.EPIPE) {
		c.code, c.told = 128+int(syscall.SIGPIPE), true
	}
	p.fail(c)
}

// fail records why the job fails, and ends the ranks that still run if the
// reason is fatal.
func (p *policy) fail(c cause) {
	p.blame(c)
	if c.fatal {
		p.end(syscall.SIGTERM)
	}
}

// blame records a cause. The first one decides the exit code; a fatal one that
// comes after one that was not replaces what there is to tell.
func (p *policy) blame(c cause) {
	c.peers = p.running
	if p.cause != nil {
		if p.cause.fatal || !c.fatal {
			return
		}
		c.code = p.cause.code
	}
	p.cause = &c
	if c.fatal {
		p.do(tellLater{noticeDelay})
	} else {
		p.tell()
	}
}

// tell says why the job fails, once.
func (p *policy) tell() {
	if p.cause.told {
		return
	}
	p.cause.told = true
	p.do(say{p.cause.sentence(p.running == 0)})
}

// end tells the ranks to end, and kills them if they take too long.
func (p *policy) end(sig syscall.Signal) {
	if p.ending {
		return
	}
	if p.killGrace < 0 {
		p.kill()
		return
	}
	p.ending = true
	if p.stacks && p.interrupt == 0 {
		p.owed = sig
		p.do(gatherStacks{})
		return
	}
	p.terminate(sig)
}

// stacksGathered tells ranks to end that were left alone for their stacks.
func (p *policy) stacksGathered(e stacksGathered) {
	p.do(say{e.text})
	if p.owed != 0 {
		p.terminate(p.owed)
		p.owed = 0
	}
}

// terminate sends the ranks the signal by which they end.
func (p *policy) terminate(sig syscall.Signal) {
	p.do(signalRanks{sig})
	p.do(signalRanks{syscall.SIGCONT}) // one that is stopped could not act on it
	p.do(killLater{p.killGrace})
}

func (p *policy) kill() {
	p.ending = true
	p.do(signalRanks{syscall.SIGKILL})
}

// verdict is how the job has ended, for other nodes. It is called when nothing more can
// happen.
func (p *policy) verdict() verdict {
	switch {
	case p.startErr != nil:
		return refusalOf(p.startErr)
	case p.cause != nil:
		return verdict{Code: p.cause.code, Sentence: p.cause.sentence(true)}
	}
	return verdict{}
}

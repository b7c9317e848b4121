package launcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// noticeDelay is how long the sentence about a failure waits for the output of
// the ranks, so that it is the last thing a user reads.
const noticeDelay = time.Second

// A job is a running Config. One goroutine, loop, decides everything.
type job struct {
	cfg     Config
	id      string
	program *program
	signals *signals
	server  *boot.Server
	output  *output
	input   *input
	ranks   []*rank
	keeper  *keeper

	exits    chan rankEnded
	watching sync.WaitGroup

	// The rest belongs to the goroutine of loop.
	begun     time.Time
	running   int // ranks that have not ended
	cause     *cause
	ending    bool             // the ranks were told to end
	killed    bool             // and then killed
	interrupt syscall.Signal   // the signal that ended the job, or 0
	grace     <-chan time.Time // when to kill
	notice    <-chan time.Time // when to tell the user although ranks still run
	limit     pausingTimer
	result    Result
}

// rankEnded is what the goroutine that watches a rank reports.
type rankEnded struct {
	r    *rank
	exit sys.Exit
	err  error
	at   time.Time
}

// A cause is why the exit code is not 0.
type cause struct {
	code     int
	what     string // such as "rank 2 (pid 1234) exited with status 3"
	after    time.Duration
	peers    int  // ranks that were still running
	everyone bool // it came over all ranks, not from one of them
	fatal    bool // the ranks that still run are told to end
	told     bool
}

func newJob(cfg Config, p *program, signals *signals) (*job, error) {
	j := &job{cfg: cfg, id: boot.NewJobID(), program: p, signals: signals, exits: make(chan rankEnded, cfg.Ranks)}
	for r := range cfg.Ranks {
		j.ranks = append(j.ranks, &rank{number: Rank(r)})
	}
	var err error
	if j.output, err = newOutput(cfg); err != nil {
		return nil, err
	}
	j.server, err = boot.NewServer(j.id, cfg.Ranks, func(r base.Rank) error { return j.ranks[r].kill() })
	if err != nil {
		return nil, err
	}
	j.server.OnError(func(r base.Rank, err error) {
		cfg.Log(fmt.Sprintf("dropped the connection of rank %d: %v", r, err))
	})
	return j, nil
}

// run starts the ranks and sees them through to the end.
func (j *job) run(ctx context.Context) (Result, error) {
	if j.cfg.Foreground {
		if err := sys.AdoptOrphans(); err != nil {
			j.cfg.Log(fmt.Sprintf("processes that leave their group will not be found: %v", err))
		}
	}
	j.input = newInput(j.cfg.Stdin)
	defer j.input.close()
	defer j.server.Close()
	j.begun = time.Now()
	spawned, err := j.startAll()
	defer spawned.close()
	for _, r := range j.ranks {
		if r.process != nil {
			j.running++
		}
	}
	if err != nil {
		j.killAll()
		j.loop(context.Background())
		j.finish()
		return Result{}, err
	}
	j.keeper = startKeeper(j.ranks, j.cfg.Log)
	j.input.begin()
	j.limit.start(j.cfg.Timeout)
	j.loop(ctx)
	j.finish()
	if j.cause != nil {
		j.tell()
		j.settle()
		j.result.ExitCode, j.result.Sentence = j.cause.code, j.cause.sentence(true)
	}
	j.result.Elapsed = time.Since(j.begun)
	if j.interrupt == 0 && j.ending && ctx.Err() != nil {
		return j.result, ctx.Err()
	}
	return j.result, nil
}

// loop handles what happens until every rank has ended.
func (j *job) loop(ctx context.Context) {
	done := ctx.Done()
	for j.running > 0 {
		select {
		case e := <-j.exits:
			j.rankEnded(e)
		case sig := <-j.signals.channel():
			j.signal(sig.(syscall.Signal))
		case <-j.limit.expired():
			j.fail(cause{code: 124, what: fmt.Sprintf("timed out after %v", j.cfg.Timeout), everyone: true, fatal: true})
		case <-done:
			done = nil
			j.fail(cause{code: 1, what: "stopped: " + context.Cause(ctx).Error(), everyone: true, fatal: true})
		case err := <-j.output.broken:
			j.outputBroken(err)
		case <-j.grace:
			j.grace = nil
			j.cfg.Log("killing the ranks that are still running")
			j.killAll()
		case <-j.notice:
			j.notice = nil
			j.tell()
		}
	}
	j.watching.Wait()
}

// rankEnded records the end of a rank and decides what it means for the others.
func (j *job) rankEnded(e rankEnded) {
	j.running--
	exit := &e.r.exit
	exit.Status, exit.Signal, exit.Core = e.exit.Status, e.exit.Signal, e.exit.Core
	exit.After, exit.Ended = e.at.Sub(j.begun), j.ending
	if e.err != nil { // not seen to happen; the rank must count as failed
		exit.Status = 1
		j.cfg.Log(e.err.Error())
	}
	j.cfg.Log(exit.describe() + " after " + seconds(exit.After))
	j.server.Announce(boot.Failure{Rank: exit.Rank, Left: !exit.Failed(), Reason: exit.reason()})
	if !exit.Failed() || j.ending {
		return
	}
	if j.result.First == nil {
		first := *exit
		j.result.First = &first
	}
	j.fail(cause{code: exit.Code(), what: exit.describe(), after: exit.After, fatal: j.cfg.OnFailure == Abort})
}

// fail records why the job fails, and ends the ranks that still run if the
// reason is fatal.
func (j *job) fail(c cause) {
	j.blame(c)
	if c.fatal {
		j.end(syscall.SIGTERM)
	}
}

// blame records a cause. The first one decides the exit code; a fatal one that
// comes after one that was not replaces what there is to tell.
func (j *job) blame(c cause) {
	c.peers = j.running
	if j.cause != nil {
		if j.cause.fatal || !c.fatal {
			return
		}
		c.code = j.cause.code
	}
	j.cause = &c
	if c.fatal {
		j.notice = time.After(noticeDelay)
	} else {
		j.tell()
	}
}

// end tells the ranks to end, and kills them if they take too long.
func (j *job) end(sig syscall.Signal) {
	if j.ending {
		return
	}
	j.ending = true
	if j.cfg.KillGrace < 0 {
		j.killAll()
		return
	}
	j.signalAll(sig)
	j.signalAll(syscall.SIGCONT) // one that is stopped could not act on it
	j.grace = time.After(j.cfg.KillGrace)
}

func (j *job) killAll() {
	j.ending, j.killed = true, true
	j.signalAll(syscall.SIGKILL)
}

func (j *job) signalAll(sig syscall.Signal) {
	for _, r := range j.ranks {
		r.signalGroup(sig)
	}
}

// signal handles a signal that this process got.
func (j *job) signal(sig syscall.Signal) {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		if j.interrupt != 0 {
			j.killAll() // the user has asked twice
			return
		}
		j.interrupt = sig
		j.blame(cause{code: 128 + int(sig), what: "interrupted by " + endSignals[sig], after: time.Since(j.begun), everyone: true, fatal: true})
		if j.ending {
			j.signalAll(sig)
		}
		j.end(sig)
	case syscall.SIGTSTP:
		j.signalAll(syscall.SIGTSTP)
		j.limit.pause()
		suspendSelf()
	case syscall.SIGCONT:
		j.limit.resume()
		j.signalAll(syscall.SIGCONT)
	case syscall.SIGCHLD:
		j.reapOrphans()
	case syscall.SIGPIPE:
		// The write that caused it has failed too, and says so.
	default:
		j.signalAll(sig)
	}
}

// outputBroken ends a job whose output nobody reads, as a broken pipe would end
// a single program.
func (j *job) outputBroken(err error) {
	c := cause{code: 1, what: fmt.Sprintf("cannot write the output: %v", err), everyone: true, fatal: true}
	if errors.Is(err, syscall.EPIPE) {
		c.code, c.told = 128+int(syscall.SIGPIPE), true
	}
	j.fail(c)
}

// tell says why the job fails, once. It does not wait for that: whoever reads
// the output may have stopped, and the ranks must end all the same.
func (j *job) tell() {
	if j.cause.told {
		return
	}
	j.cause.told = true
	sentence := j.cause.sentence(j.running == 0)
	j.output.interject(func() { j.cfg.Notice(sentence) })
}

// finish ends what the ranks have left behind and waits for their output.
func (j *job) finish() {
	j.endLeftovers()
	j.settle()
	j.output.close()
	j.keeper.dismiss()
	for _, r := range j.ranks {
		j.result.Ranks = append(j.result.Ranks, r.exit)
	}
}

// settle waits until all output has been passed on. Whoever takes it may have
// stopped: then the user is told all the same, and a signal that would end the
// job cuts the wait short, as does one that came before, after the grace.
func (j *job) settle() {
	done := j.output.settled()
	hurry := time.After(drainPatience)
	var limit <-chan time.Time
	if j.interrupt != 0 {
		limit = time.After(max(j.cfg.KillGrace, drainPatience))
	}
	for {
		select {
		case <-done:
			return
		case <-hurry:
			j.output.hurry()
		case <-j.notice:
			j.notice = nil
			j.tell()
		case <-limit:
			return
		case sig := <-j.signals.channel():
			if endSignals[sig.(syscall.Signal)] != "" {
				return
			}
		}
	}
}

// pausingTimer is a time limit that can stand still. The zero value has none.
type pausingTimer struct {
	timer    *time.Timer
	deadline time.Time
	paused   time.Time
}

func (t *pausingTimer) start(d time.Duration) {
	if d > 0 {
		t.timer, t.deadline = time.NewTimer(d), time.Now().Add(d)
	}
}

func (t *pausingTimer) expired() <-chan time.Time {
	if t.timer == nil || !t.paused.IsZero() {
		return nil
	}
	return t.timer.C
}

func (t *pausingTimer) pause() {
	if t.paused.IsZero() {
		t.paused = time.Now()
	}
}

func (t *pausingTimer) resume() {
	if t.timer != nil && !t.paused.IsZero() {
		t.deadline = t.deadline.Add(time.Since(t.paused))
		t.timer.Reset(time.Until(t.deadline))
	}
	t.paused = time.Time{}
}

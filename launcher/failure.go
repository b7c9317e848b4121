package launcher

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// noticeDelay is how long the sentence about a failure waits for the output of
// the ranks, so that it is the last thing a user reads.
const noticeDelay = time.Second

// A cause is why the exit code is not 0.
type cause struct {
	code     int
	what     string // such as "rank 2 (pid 1234) exited with status 3"
	after    time.Duration
	peers    int    // ranks that were still running
	everyone bool   // it came over all ranks, not from one of them
	loss     string // of a rank by another before that, such as "rank 2 had lost rank 0 (...)"; may be empty
	fatal    bool   // the ranks that still run are told to end
	told     bool
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
	j.losses.stop()
	if j.cfg.KillGrace < 0 {
		j.killAll()
		return
	}
	j.signalAll(sig)
	j.signalAll(syscall.SIGCONT) // one that is stopped could not act on it
	j.grace = time.After(j.cfg.KillGrace)
}

func (j *job) killAll() {
	j.ending = true
	j.losses.stop()
	j.signalAll(syscall.SIGKILL)
}

func (j *job) signalAll(sig syscall.Signal) {
	for _, s := range j.sites {
		s.signal(sig)
	}
}

// signal handles a signal that this process got.
func (j *job) signal(sig syscall.Signal) {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
		j.interruptedBy(sig, "")
	case syscall.SIGTSTP:
		j.signalAll(syscall.SIGTSTP)
		j.limit.pause()
		suspendSelf()
	case syscall.SIGCONT:
		j.limit.resume()
		j.signalAll(syscall.SIGCONT)
	case syscall.SIGPIPE:
		// The write that caused it has failed too, and says so.
	default:
		j.signalAll(sig)
	}
}

// interruptedBy ends the job for a signal that a user has sent; where says to what, if
// that is not this process.
func (j *job) interruptedBy(sig syscall.Signal, where string) {
	if j.interrupt != 0 {
		j.killAll() // the user has asked twice
		return
	}
	j.interrupt = sig
	j.blame(cause{code: 128 + int(sig), what: "interrupted by " + endSignals[sig] + where, after: time.Since(j.begun), everyone: true, fatal: true})
	if j.ending {
		j.signalAll(sig)
	}
	j.end(sig)
}

// demanded does what another node wants.
func (j *job) demanded(e nodeDemands) {
	where := " at " + e.node.title()
	if sig := syscall.Signal(e.demand.Signal); endSignals[sig] != "" {
		j.interruptedBy(sig, where)
		return
	}
	j.fail(cause{code: max(e.demand.Code, 1), what: e.demand.What + where, everyone: true, fatal: true})
}

// verdict is how the job has ended, for other nodes. It is called when nothing more can
// happen.
func (j *job) verdict() verdict {
	switch {
	case j.startErr != nil:
		return refusalOf(j.startErr)
	case j.cause != nil:
		return verdict{Code: j.cause.code, Sentence: j.cause.sentence(true)}
	}
	return verdict{}
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

package gaspi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/logging"
	"github.com/gaspi-go/gaspi-go/internal/peerstate"
)

// Health is what this rank knows of another: a local view, not an agreement.
type Health uint8

const (
	// Healthy says that nothing bad is known. It is no promise.
	Healthy Health = iota
	// Corrupt says that the rank died, or that an operation to it failed because
	// it is gone. A time limit or a full queue never makes a rank corrupt.
	Corrupt
)

// String is "healthy" or "corrupt".
func (h Health) String() string {
	if h == Corrupt {
		return "corrupt"
	}
	return "healthy"
}

// State is the state vector: one entry per rank, by rank. The caller owns it.
func (p *Proc) State() []Health {
	vec := make([]Health, p.size)
	for r := range vec {
		vec[r] = p.Health(Rank(r))
	}
	return vec
}

// Health is the entry of rank r in the state vector, Corrupt if there is no such rank. It
// is two loads.
func (p *Proc) Health(r Rank) Health {
	if r < 0 || int(r) >= p.size || p.peers.At(r).Corrupt {
		return Corrupt
	}
	return Healthy
}

// Failure returns how rank r ended, or why this rank has lost it if nothing is known of
// an end: two ranks that have lost each other may both go on. It returns nil for a rank
// that is there. A rank that ended normally has a Failure too. ResetState does not
// change it. It does not block.
func (p *Proc) Failure(r Rank) *RankError {
	if r < 0 || int(r) >= p.size {
		return nil
	}
	if !p.peers.At(r).Gone() {
		return nil
	}
	return p.peers.Why(r)
}

// FirstFailure is the Failure of the first of ranks that ended or was lost, as far as this
// rank knows, or nil if all are there: others often end because of it. It does not block.
func (p *Proc) FirstFailure(ranks []Rank) *RankError {
	if r, any := p.peers.First(ranks, (*peerstate.Entry).Gone); any {
		return p.Failure(r)
	}
	return nil
}

// Silent reports whether rank r has ended, well or badly, and nothing that it wrote or
// posted arrives here any more. Failure may tell of the end a moment earlier, while what
// the rank had sent is still being received. It is two loads. Where ranks are goroutines
// (Local), one that was killed may go on: then it promises nothing.
func (p *Proc) Silent(r Rank) bool { return r >= 0 && int(r) < p.size && p.peers.At(r).Quiet }

// ResetState declares the ranks healthy, all if none is named: the program has
// dealt with what happened. Waits for notifications no longer end because of
// them, nor, without an argument, because of ranks that have left. A rank that
// died stays dead, and becomes corrupt again when an operation needs it; that
// its end is told after the call changes nothing.
func (p *Proc) ResetState(ranks ...Rank) error {
	if len(ranks) == 0 {
		p.peers.Acknowledge()
		for r := range Rank(p.size) {
			p.peers.Pardoned(r)
		}
		return nil
	}
	for _, r := range ranks {
		if r < 0 || int(r) >= p.size {
			return &OpError{Op: "state_reset", Err: p.badRank(r)}
		}
		p.peers.Pardoned(r)
	}
	return nil
}

// Ping finds out whether rank r is alive, and marks it corrupt if it is not. It needs no help
// from the program that runs there, and does not ask one that is corrupt. If the rank is gone
// and nobody has told of its end, Ping blocks until that is told, until a quarter of a second
// after the connection broke at most: FirstFailure knows then of ranks that ended before it.
func (p *Proc) Ping(ctx context.Context, r Rank) error {
	link, err := p.link(r)
	if err == nil {
		if err = p.peers.Absence(r); err == nil {
			err = link.Ping(ctx)
		}
		if gone, ok := errors.AsType[*RankError](err); ok {
			_ = p.verdict(ctx, gone, func() bool { return false }) // err says enough without it
		}
		err = p.peers.Found(r, err)
	}
	if err != nil {
		return &OpError{Op: "ping", At: fmt.Sprintf("rank %d", r), Err: err}
	}
	return nil
}

// Kill ends rank r at once, whatever it is doing, and returns when it is gone.
// Its own rank cannot be killed.
func (p *Proc) Kill(ctx context.Context, r Rank) error {
	at := fmt.Sprintf("rank %d", r)
	switch {
	case r < 0 || int(r) >= p.size:
		return &OpError{Op: "kill", At: at, Err: p.badRank(r)}
	case r == p.rank:
		return &OpError{Op: "kill", At: at, Err: fmt.Errorf("%w: a rank cannot kill itself", ErrBadRank)}
	}
	if err := p.boot.Kill(ctx, r); err != nil {
		return &OpError{Op: "kill", At: at, Err: err}
	}
	return nil
}

// settle waits until the runtime's own operations have ended, so that what they
// read may be changed. Those that failed are for whoever waits for their effect.
func (p *Proc) settle(ctx context.Context) error {
	if p.internal.Idle() {
		return nil
	}
	if err := p.internal.Wait(ctx, p.wire.Wait, p.ended); err != nil {
		return err
	}
	p.peers.Doubt(p.internal.Failure())
	return nil
}

// verdict blocks until the rank that err names is judged, until the news of its end is not waited
// for any more, or until unneeded reports true. When the end of the rank is told, those of ranks
// that ended before it are known: it may have ended because of one of these.
func (p *Proc) verdict(ctx context.Context, err *RankError, unneeded func() bool) error {
	p.peers.Doubt(err)
	known := func() bool { return p.peers.At(err.Rank).Judged() || unneeded() }
	limited, cancel := context.WithDeadline(ctx, p.peers.NewsUntil(err.Rank))
	defer cancel()
	if late := p.system.Notifications().WaitFunc(limited, known, p.stop, nil); !isTimeLimit(late) || ctx.Err() != nil {
		return late
	}
	return nil
}

// watch takes note of ranks that are gone, until the session closes.
func (p *Proc) watch() {
	defer p.done.Done()
	if why := p.peers.Watch(); why != nil {
		p.orphaned(&launcherLoss{why})
	}
}

// ended is why no wait of this rank makes sense any more, or nil: it has closed, or the launcher
// is gone, or rank 0 of a job without one.
func (p *Proc) ended() error {
	if p.closed.Load() {
		return ErrClosed
	}
	if loss := p.loss.Load(); loss != nil {
		return loss
	}
	return nil
}

// anyEnded is why a wait for any rank of the job should end.
func (p *Proc) anyEnded() error {
	if err := p.ended(); err != nil {
		return err
	}
	if p.peers.AllPresent() {
		return nil
	}
	return p.peers.Orphaned(p.peers.Others)
}

// awaits is why a wait for rank r alone should end.
func (p *Proc) awaits(r Rank) error {
	if err := p.ended(); err != nil {
		return err
	}
	return p.peers.Absence(r)
}

// A launcherLoss is ErrLauncherLost with what is known of it.
type launcherLoss struct{ why error }

func (l *launcherLoss) Error() string        { return l.why.Error() }
func (l *launcherLoss) Is(target error) bool { return target == ErrLauncherLost }

// orphaned ends this rank, which has lost its launcher.
func (p *Proc) orphaned(loss *launcherLoss) {
	p.loss.Store(loss)
	p.detach()
	p.wakeAll()
	p.log(logging.Job).Error("gaspi: " + loss.Error() + "; this rank ends")
	if p.inside {
		return
	}
	say(fmt.Sprintf("gaspi: rank %d ends: %v", p.rank, loss))
	endSelf()
}

// sayMost bounds how long a rank waits for whoever reads its standard error.
const sayMost = time.Second

// say writes a line to standard error. The process that read that may be gone: os.Stderr would
// then end this one by SIGPIPE, for a line that the program has not asked for.
func say(line string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = syscall.Write(syscall.Stderr, []byte(line+"\n")) // nobody else could be told of an error
	}()
	late := time.NewTimer(sayMost)
	defer late.Stop()
	select {
	case <-said:
	case <-late.C:
	}
}

// endSelf asks this process to end, in the way that a program may catch: without
// its launcher nobody would ever end it.
func endSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(syscall.SIGTERM)
	}
}

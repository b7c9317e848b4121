package gaspi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/peerstate"
	"github.com/gaspi-go/gaspi-go/internal/transport"
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

// Silent reports whether rank r has ended, well or badly, and nothing that it wrote or
// posted arrives here any more. Failure may tell of the end a moment earlier, while what
// the rank had sent is still being received. It is two loads. Where ranks are goroutines
// (Local), one that was killed may go on: then it promises nothing.
func (p *Proc) Silent(r Rank) bool { return r >= 0 && int(r) < p.size && p.peers.At(r).Quiet }

// ResetState declares the ranks healthy, all if none is named: the program has
// dealt with what happened. Waits for notifications no longer end because of
// them, nor, without an argument, because of ranks that have left. A rank that
// died stays dead, and becomes corrupt again when an operation needs it.
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
		if err = p.absent(r); err == nil {
			err = link.Ping(ctx)
		}
		if gone, ok := errors.AsType[*RankError](err); ok {
			_ = p.verdict(ctx, gone, func() bool { return false }) // err says enough without it
		}
		err = p.fault(r, err)
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

// fault marks rank r corrupt if err says that it is gone, and returns err.
func (p *Proc) fault(r Rank, err error) error {
	if err == nil || !errors.Is(err, ErrRankDead) {
		return err
	}
	cause, _ := errors.AsType[*RankError](err)
	if p.peers.Failed(r, cause) {
		p.wakeAll()
	}
	return err
}

// faulty is fault for an error that may name the rank itself.
func (p *Proc) faulty(err error) error {
	if gone, ok := errors.AsType[*RankError](err); ok {
		return p.fault(gone.Rank, err)
	}
	return err
}

// settle waits until the runtime's own operations have ended, so that what they
// read may be changed. Those that failed are for whoever waits for their effect.
func (p *Proc) settle(ctx context.Context) error {
	if p.internal.Idle() {
		return nil
	}
	if err := p.internal.Wait(ctx, p.waitPolicy, p.ended); err != nil {
		return err
	}
	p.doubt(p.internal.Failure())
	return nil
}

// A broken connection may be the end of a process that nobody has told of yet:
// whoever started it knows why it ended, and whether well. So much time they get.
const verdictPatience = time.Second

// certainAfter is how long after its connection broke it is certain that nobody will tell of
// the end of a rank: as long as whoever started it takes to notice that its host is silent.
func certainAfter() time.Duration {
	switch s := silence(); s {
	case forever: // only connections that end tell
		return verdictPatience
	case 0:
		return transport.LossMost(boot.DefaultHeartbeat)
	default:
		return transport.LossMost(s)
	}
}

// linkLost takes note of a connection that broke. It does not block.
func (p *Proc) linkLost(err *RankError) {
	p.peers.Broke(err, time.Now())
	go p.judge(err)
}

// reportLosses tells whoever started the job of ranks that this one has lost and of whose
// end nothing is known. Others are about to lose this one, and may end before it.
func (p *Proc) reportLosses() {
	for r := range Rank(p.size) {
		if peer := p.peers.At(r); peer.Broken != nil && !peer.HasEnded() {
			p.boot.Miss(r, peer.Broken.Reason)
		}
	}
}

// judge takes a rank for lost unless it turns out that it has ended, and later for parted.
func (p *Proc) judge(err *RankError) {
	if p.endsWithin(err.Rank, verdictPatience) {
		return
	}
	p.boot.Miss(err.Rank, err.Reason)
	if !p.peers.Untold(err.Rank) {
		return
	}
	p.wakeAll() // also if it is corrupt already
	p.cfg.Log.Warn("gaspi: lost a connection", "rank", p.rank, "peer", err.Rank, "reason", err.Reason)
	_ = p.fault(err.Rank, err)
	if p.endsWithin(err.Rank, p.certain-verdictPatience) {
		return
	}
	if p.peers.Unheard(err.Rank) {
		p.wakeAll()
	}
}

// endsWithin waits for a time, and reports whether rank r has ended then, or this one has closed.
func (p *Proc) endsWithin(r Rank, d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-late.C:
		return p.peers.At(r).HasEnded()
	case <-p.over:
		return true
	}
}

// watchLoop takes note of ranks that are gone, until the session closes.
func (p *Proc) watchLoop() {
	defer p.done.Done()
	for f := range p.boot.Failures() {
		if f.Left && p.hears(f.Rank) {
			go p.noteEndLater(f)
			continue
		}
		p.noteEnd(f)
	}
	if why := p.boot.Lost(); why != nil {
		p.orphaned(&launcherLoss{p.lossAfter(why)})
	}
}

// hears reports whether rank r exists and something that it has sent may still
// arrive.
func (p *Proc) hears(r Rank) bool {
	wire, ok := p.wire.(interface{ Hears(Rank) bool })
	return ok && r >= 0 && int(r) < p.size && wire.Hears(r)
}

// leftPatience bounds how long the news that a rank left normally is held back while something
// that it sent may still arrive. Its transport says when nothing does; the bound is for one
// that cannot.
const leftPatience = 10 * time.Second

// noteEndLater is noteEnd for a rank that has left well, after what it sent before:
// the launcher's news must not overtake a last notification, or a wait for it would
// end as one in vain.
func (p *Proc) noteEndLater(f boot.Failure) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(leftPatience); p.hears(f.Rank) && time.Now().Before(until); {
		select {
		case <-look.C:
		case <-p.over:
			return
		}
	}
	p.noteEnd(f)
}

func (p *Proc) noteEnd(f boot.Failure) {
	if f.Rank < 0 || int(f.Rank) >= p.size || f.Rank == p.rank {
		return
	}
	err := &RankError{Rank: f.Rank, Reason: f.Reason, Left: f.Left}
	if !p.peers.Ended(err) {
		return
	}
	p.wire.Lose(err)
	p.peers.Quieted(f.Rank)
	p.wakeAll()
}

// A launcherLoss is ErrLauncherLost with what is known of it.
type launcherLoss struct{ why error }

func (l *launcherLoss) Error() string        { return l.why.Error() }
func (l *launcherLoss) Is(target error) bool { return target == ErrLauncherLost }

// lossAfter adds to why the launcher, or rank 0 in place of one, is gone the rank that was lost
// before it: the launcher may have ended because of that rank.
func (p *Proc) lossAfter(why error) error {
	before, any := p.peers.First(p.others, func(peer *peerstate.Entry) bool { return peer.Absent() && !peer.HasLeft() })
	if !any || before == 0 {
		return why
	}
	return fmt.Errorf("%w; rank %d was lost before: %s", why, before, p.peers.Why(before).Reason)
}

// orphaned ends this rank, which has lost its launcher.
func (p *Proc) orphaned(loss *launcherLoss) {
	p.loss.Store(loss)
	p.detach()
	p.wakeAll()
	p.cfg.Log.Error("gaspi: "+loss.Error()+"; this rank ends", "rank", p.rank)
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

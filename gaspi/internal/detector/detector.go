// Package detector is the failure detector of a rank: it hears of broken connections, of operations
// that found a rank gone, and of ends that the launcher tells, and enters them in the table of
// package peerstate. It decides how long the news of an end is waited for before a rank whose
// connection broke counts as lost, and makes the waits of its rank look again.
package detector

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/peerstate"
)

const (
	// patience is how long after a connection broke the news of an end is waited for: whoever
	// started the process knows why it ended, and whether well.
	patience = time.Second
	// newsPatience is how long an operation that finds its peer gone waits for the news of the
	// peer's end: a part of patience, since others wait for this rank.
	newsPatience = patience / 4
	// leftPatience bounds how long the news that a rank left normally is held back while something
	// that it sent may still arrive. Its transport says when nothing does; the bound is for one
	// that cannot.
	leftPatience = 10 * time.Second
)

// A Detector is what a rank knows of the others, and how it learns it. Its methods may be called by
// any goroutine.
type Detector struct {
	*peerstate.Table

	// Others are all ranks of the job but this one.
	Others []base.Rank

	session boot.Session
	certain time.Duration // after which nobody tells of the end of a rank whose connection broke
	log     *slog.Logger
	over    chan struct{} // closed by Stop

	mu    sync.Mutex
	wire  Wire     // guarded by mu until Start, then constant; likewise wake
	wake  func()   // makes all waits of the rank look again
	early []func() // guarded by mu; what was heard before Start
}

// A Wire is the transport of the rank. No method blocks.
type Wire interface {
	// Hears reports whether something that rank r has sent may still arrive.
	Hears(r base.Rank) bool
	// Lose ends operations with a rank that has ended.
	Lose(err *base.RankError)
}

// New returns the detector of the rank of a session. Transports call a silent rank lost within
// lossMost: see wireup.LossMost.
func New(session boot.Session, lossMost time.Duration, log *slog.Logger) *Detector {
	info := session.Info()
	d := &Detector{
		Table: peerstate.New(info.Size), session: session, certain: max(patience, lossMost), log: log, over: make(chan struct{}),
	}
	for r := range base.Rank(info.Size) {
		if r != info.Rank {
			d.Others = append(d.Others, r)
		}
	}
	return d
}

// Start gives the detector the transport of the rank and the function that makes its waits look
// again, and deals with what was heard before.
func (d *Detector) Start(wire Wire, wake func()) {
	d.mu.Lock()
	early := d.early
	d.wire, d.wake, d.early = wire, wake, nil
	d.mu.Unlock()
	for _, news := range early {
		news()
	}
}

// hear deals with news, after Start.
func (d *Detector) hear(news func()) {
	d.mu.Lock()
	waits := d.wire == nil
	if waits {
		d.early = append(d.early, news)
	}
	d.mu.Unlock()
	if !waits {
		news()
	}
}

// Stop ends waits of the detector for news. It is called once.
func (d *Detector) Stop() { close(d.over) }

// exists reports whether there is a rank r.
func (d *Detector) exists(r base.Rank) bool { return r >= 0 && int(r) < len(d.Others)+1 }

// Found returns err, the error of an operation with rank r, and marks the rank corrupt if err says
// that it is gone. It does not block.
func (d *Detector) Found(r base.Rank, err error) error {
	if err == nil || !errors.Is(err, base.ErrRankDead) || !d.exists(r) {
		return err
	}
	cause, _ := errors.AsType[*base.RankError](err)
	if d.Failed(r, cause) {
		d.wake()
	}
	return err
}

// Doubt takes note of an operation that failed: if err says that a rank is gone, and nobody
// tells of its end in time, it counts as missed and becomes corrupt. It does not block.
func (d *Detector) Doubt(err error) {
	gone, ok := errors.AsType[*base.RankError](err)
	if !ok {
		return
	}
	if peer := d.At(gone.Rank); !peer.Judged() && peer.Broken == nil {
		d.LinkLost(gone)
	}
}

// NewsUntil is until when an operation that finds rank r gone waits for the news of its end.
func (d *Detector) NewsUntil(r base.Rank) time.Time {
	since := time.Now()
	if peer := d.At(r); peer.Broken != nil {
		since = peer.BrokenAt
	}
	return since.Add(newsPatience)
}

// LinkLost takes note of a connection that broke. It does not block.
func (d *Detector) LinkLost(err *base.RankError) {
	d.hear(func() {
		d.Broke(err, time.Now())
		go d.judge(err)
	})
}

// judge takes a rank for lost unless it turns out that it has ended, and later for parted.
func (d *Detector) judge(err *base.RankError) {
	if d.endsWithin(err.Rank, patience) {
		return
	}
	d.session.Miss(err.Rank, err.Reason)
	if !d.Untold(err.Rank) {
		return
	}
	d.wake() // also if it is corrupt already
	d.log.Warn("gaspi: lost a connection", "rank", d.session.Info().Rank, "peer", err.Rank, "reason", err.Reason)
	_ = d.Found(err.Rank, err)
	if d.endsWithin(err.Rank, d.certain-patience) {
		return
	}
	if d.Unheard(err.Rank) {
		d.wake()
	}
}

// endsWithin waits for a time, and reports whether rank r has ended then, or Stop was called.
func (d *Detector) endsWithin(r base.Rank, limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-late.C:
		return d.At(r).HasEnded()
	case <-d.over:
		return true
	}
}

// Report tells whoever started the job of ranks that this one has lost and of whose
// end nothing is known. Others are about to lose this one, and may end before it.
func (d *Detector) Report() {
	for _, r := range d.Others {
		if peer := d.At(r); peer.Broken != nil && !peer.HasEnded() {
			d.session.Miss(r, peer.Broken.Reason)
		}
	}
}

// Watch takes note of ranks that are gone, until the session closes. It returns why the launcher,
// or rank 0 in place of one, is gone, if that is why the session ended, else nil. The error names
// the rank that was lost before: the launcher may have ended because of that rank.
func (d *Detector) Watch() error {
	for f := range d.session.Failures() {
		if f.Left && d.exists(f.Rank) && d.wire.Hears(f.Rank) {
			go d.endLater(f)
			continue
		}
		d.NoteEnd(&base.RankError{Rank: f.Rank, Reason: f.Reason, Left: f.Left})
	}
	why := d.session.Lost()
	if why == nil {
		return nil
	}
	if before := d.FirstLost(d.Others); before != nil && before.Rank != 0 {
		return fmt.Errorf("%w; rank %d was lost before: %s", why, before.Rank, before.Reason)
	}
	return why
}

// endLater takes note of the end of a rank that has left well, after what it sent before:
// the launcher's news must not overtake a last notification, or a wait for it would
// end as one in vain.
func (d *Detector) endLater(f boot.Failure) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(leftPatience); d.wire.Hears(f.Rank) && time.Now().Before(until); {
		select {
		case <-look.C:
		case <-d.over:
			return
		}
	}
	d.NoteEnd(&base.RankError{Rank: f.Rank, Reason: f.Reason, Left: f.Left})
}

// NoteEnd takes note of the end of the rank that err names, of which whoever started it tells. It
// does not block.
func (d *Detector) NoteEnd(err *base.RankError) {
	if !d.exists(err.Rank) || err.Rank == d.session.Info().Rank {
		return
	}
	d.hear(func() {
		if !d.Ended(err) {
			return
		}
		d.wire.Lose(err)
		d.Quieted(err.Rank)
		d.wake()
	})
}

// Lost returns why what ranks do together cannot end: the first of them that died, or that this
// rank has lost although nobody tells of its end. A rank that left normally counts only for who
// waits for it, whatever failed afterwards. One that died becomes corrupt, again if it was
// pardoned.
func (d *Detector) Lost(ranks []base.Rank) error {
	if d.AllPresent() {
		return nil
	}
	why := d.FirstLost(ranks)
	if why == nil {
		return nil
	}
	if d.At(why.Rank).HasEnded() {
		return d.Found(why.Rank, why)
	}
	return why
}

package gaspi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// Local runs a job of n ranks in this process: rank is called once per rank, in
// a goroutine of its own. It needs no launcher, so a program's tests can run
// eight ranks under go test, with the race detector.
//
// It returns when all ranks have returned: nil, or the errors of those that
// failed, each naming its rank, joined in order of rank. A rank that returns an
// error or panics has died for the others: what they do with it ends with a
// *RankError, and unless cfg.KeepGoing is set their contexts are cancelled.
// Those later failures are not reported beside the first.
//
// Each rank takes about 20 KiB and 120 bytes for each rank of the job, and what it uses: 16 bytes for
// each segment and each other rank that reaches it, and about 1 KiB for each rank that it has
// sent something to. The runtime's own segment has room for messages of all ranks
// (Config.PassiveMax and Config.Groups), and takes memory where it was written.
func Local(ctx context.Context, n int, cfg Config, rank func(ctx context.Context, p *Proc) error) error {
	if n < 1 {
		return fmt.Errorf("gaspi: a job of %d ranks; want at least 1", n)
	}
	cfg, err := cfg.prepare()
	if err != nil {
		return err
	}
	if cfg.Transport == "shm" {
		return fmt.Errorf("gaspi: transport shm connects processes; ranks of one process need auto, loopback, tcp or rdma")
	}
	network := transport.NetworkOf(ctx)
	process := wireup.NewProcess(n, cfg.segmentIDs(), cfg.Emulate != "", network)
	defer process.Close()
	j := &localJob{
		cfg: cfg, boot: boot.NewLocal(n), process: process, main: rank,
		cancel: make([]context.CancelCauseFunc, n), errs: make([]error, n),
		ended: make([]bool, n),
	}
	j.boot.OnKill(func(r Rank) { j.kill(r, errKilled) })
	if network != nil {
		j.boot.OnKill(network.Kill)
		network.Begin(transport.Launcher{Kill: j.kill, Announce: j.announce, Mute: j.boot.Mute, Orphan: j.boot.Orphan})
	}
	return j.run(ctx, n)
}

// localJob is a job whose ranks are goroutines.
type localJob struct {
	cfg     Config
	boot    *boot.Local
	process *wireup.Process
	main    func(context.Context, *Proc) error

	mu     sync.Mutex
	cancel []context.CancelCauseFunc // guarded by mu; index is the rank
	errs   []error                   // guarded by mu; index is the rank
	ended  []bool                    // guarded by mu; index is the rank; announced to the others
	failed bool                      // guarded by mu; a rank has failed by itself
}

var errKilled = errors.New("killed")

func (j *localJob) run(ctx context.Context, n int) error {
	var ranks sync.WaitGroup
	for r := range Rank(n) {
		rctx, cancel := context.WithCancelCause(ctx)
		j.mu.Lock()
		j.cancel[r] = cancel
		j.mu.Unlock()
		ranks.Go(func() {
			defer cancel(nil)
			j.end(r, j.one(rctx, r))
		})
	}
	ranks.Wait()
	return errors.Join(j.errs...)
}

// one is the life of rank r. An error of the program is told to the others before the rank gives
// up its memory: they would fail by that, as if of themselves.
func (j *localJob) one(ctx context.Context, r Rank) error {
	p, err := join(ctx, j.cfg, j.boot.Session(r), true, j.process.Open)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := j.guarded(ctx, p); err != nil {
		j.end(r, err)
		return err
	}
	return nil
}

// guarded runs the program of a rank. A panic is an error with a stack.
func (j *localJob) guarded(ctx context.Context, p *Proc) (err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("panic: %v\n%s", bug, debug.Stack())
		}
	}()
	return j.main(ctx, p)
}

// end notes how rank r ended and tells the others. A second call for a rank changes nothing.
func (j *localJob) end(r Rank, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.endLocked(r, err)
}

func (j *localJob) endLocked(r Rank, err error) {
	first := err != nil && !j.failed
	if err != nil && (first || j.cfg.KeepGoing) && j.errs[r] == nil {
		j.errs[r] = fmt.Errorf("rank %d: %w", r, err)
	}
	if !j.ended[r] {
		j.announceLocked(r, err)
	}
	if first && !j.cfg.KeepGoing {
		j.abortLocked(r)
	}
}

// abortLocked ends the other ranks because rank r has failed.
func (j *localJob) abortLocked(r Rank) {
	j.failed = true
	for other, cancel := range j.cancel {
		if cancel != nil && Rank(other) != r {
			cancel(j.errs[r])
		}
	}
}

// announce tells the others of the end of rank r, which does not hear of it.
func (j *localJob) announce(r Rank, reason error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended[r] {
		j.announceLocked(r, reason)
	}
}

func (j *localJob) announceLocked(r Rank, err error) {
	j.ended[r] = true
	f := boot.Failure{Rank: r, Left: err == nil, Reason: "returned without an error"}
	if err != nil {
		f.Reason = err.Error()
	}
	j.boot.Leave(r, f)
}

// kill ends rank r as far as the others can tell: its context is cancelled and
// its end announced at once, whatever its goroutine still does.
func (j *localJob) kill(r Rank, reason error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended[r] {
		j.cancel[r](reason)
		j.endLocked(r, reason)
	}
}

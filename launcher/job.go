package launcher

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/timeline"
)

// A job is a running Config. One goroutine, loop, asks its policy for all that is decided, and
// does it.
type job struct {
	cfg     Config
	id      string
	program *executable.File
	signals *signals
	server  *boot.Server
	output  *stdio.Forwarder
	input   *stdio.Input
	thread  *supervise.Thread
	family  *supervise.Children
	losses  *losses
	watch   *watch
	kernel  kernelWatch
	clocks  clocks

	places       []place
	sites        []site
	siteOf       []site   // index is the rank
	muster       *muster  // where nodes have come together; nil without any
	doorway      *doorway // where agents and ranks of other hosts come in; nil without any
	shipment     []byte   // the program, if it is copied to other hosts
	carriers     []*carrier
	carrierEnded chan *carrier

	begins atomic.Pointer[time.Time] // since when waits in gaspi.Init count; nil unless all ranks run

	events chan any      // what sites report; see site.go
	over   chan struct{} // closed when nobody listens to events any more

	// The rest belongs to the goroutine of loop.
	policy   *policy
	begun    time.Time
	grace    <-chan time.Time // when to kill
	notice   <-chan time.Time // when to tell the user although ranks still run
	limit    pausingTimer
	progress startProgress
}

func newJob(cfg Config, p *executable.File, all []place, signals *signals) (*job, error) {
	for _, r := range cfg.Debug {
		if r < 0 || int(r) >= cfg.Ranks {
			return nil, fmt.Errorf("rank %d cannot be debugged: the ranks of the job are 0 to %d", r, cfg.Ranks-1)
		}
	}
	j := &job{
		cfg: cfg, id: boot.NewJobID(), program: p, signals: signals, family: &supervise.Children{}, losses: newLosses(cfg.Ranks),
		siteOf: make([]site, cfg.Ranks), policy: newPolicy(cfg),
		places: all, events: make(chan any, 2*cfg.Ranks), over: make(chan struct{}),
	}
	j.watch = newWatch(j)
	var err error
	if j.output, err = stdio.Open(cfg.stdio()); err != nil {
		return nil, err
	}
	j.server, err = boot.NewServer(j.id, cfg.Ranks, func(r base.Rank) error { return j.siteOf[r].Kill(r) })
	if err != nil {
		return nil, err
	}
	j.server.SetHeartbeat(cfg.silence())
	j.server.OnError(func(r base.Rank, err error) {
		cfg.Log(fmt.Sprintf("dropped the connection of rank %d: %v", r, err))
	})
	j.server.OnMiss(func(by base.Rank, what boot.Failure) {
		cfg.Log(fmt.Sprintf("rank %d has lost rank %d (%s)", by, what.Rank, what.Reason))
		j.losses.note(by, what)
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
	j.thread = supervise.NewThread()
	defer j.thread.Close()
	j.input = stdio.NewInput(j.cfg.Stdin, j.places[0].here)
	defer j.input.Close()
	defer j.server.Close()
	defer j.dismissCarriers()
	defer func() { j.doorway.close() }()
	err := j.gather(ctx)
	if err == nil {
		err = j.signals.pending()
	}
	if err != nil {
		j.policy.startErr = err
		if j.muster != nil {
			j.policy.startErr = atFirst(err) // which the other nodes are told
		}
		close(j.over)
		j.closeSites()
		return Result{}, err
	}
	j.kernel.open(j.cfg.Measure, j.cfg.Probe)
	defer j.kernel.close()
	j.begun = time.Now()
	j.startSites()
	j.watch.begin()
	go j.awaitRanks()
	j.progress.begin(j)
	j.input.Begin()
	j.limit.start(j.cfg.Timeout)
	for _, sig := range j.signals.takeHeld() {
		j.decide(userSignal{sig})
	}
	j.loop(ctx)
	j.progress.end()
	close(j.over)
	stats, measured := j.watch.stats(), j.watch.measured()
	j.watch.close()
	trace := j.endTrace()
	j.finish()
	p := j.policy
	if p.startErr != nil {
		return Result{}, p.startErr
	}
	result := Result{First: p.first, Ranks: p.exits, Stats: stats, Measured: measured, Trace: trace}
	if p.cause != nil {
		j.decide(noticeDue{})
		j.settle()
		result.ExitCode, result.Sentence = p.cause.code, p.cause.sentence(true)
	}
	result.Elapsed = time.Since(j.begun)
	if p.interrupt == 0 && p.ending && ctx.Err() != nil {
		return result, ctx.Err()
	}
	return result, nil
}

// addSite makes s the site of a place.
func (j *job) addSite(s site, p place) {
	j.sites = append(j.sites, s)
	for r := range p.ranks {
		j.siteOf[int(p.first)+r] = s
	}
}

// local returns the site of the ranks of this host.
func (j *job) local(p place) *supervise.Ranks {
	t := supervise.Task{
		Command: j.program.Command(j.cfg.Program, "", j.cfg.Args),
		First:   p.first, Cores: j.cfg.Bind == BindCore,
		Grace: j.cfg.KillGrace, Stopped: j.cfg.silence(), Adopt: j.cfg.Foreground,
		Status: statusFile(p.ranks, j.cfg.Ranks, j.cfg.Log), JobRanks: j.cfg.Ranks,
		Trace: traceFile(p.ranks, j.slots(), j.cfg.Log), Debug: j.cfg.Debug,
		Files:  func(r Rank) (*stdio.Files, error) { return j.output.Files(r, j.input) },
		Link:   func(r Rank) (*os.File, error) { return j.server.Attach(r) },
		Report: j.report, Log: j.cfg.Log, Thread: j.thread, Children: j.family,
	}
	t.Command.Inherited, t.Command.Added = os.Environ(), j.cfg.Env
	if j.cfg.Measure {
		t.Measures = measuresFile(p.ranks, j.cfg.Ranks, j.cfg.Log)
		t.Began = j.kernel.began
	}
	for i := range p.ranks {
		info := j.info(p, i)
		t.Own = append(t.Own, append(info.Environ(supervise.BootFD), j.environ(info.Rank)...))
	}
	return supervise.New(t)
}

// info says who the i-th rank of a place is.
func (j *job) info(p place, i int) boot.Info {
	return boot.Info{
		Rank: p.first + Rank(i), Size: j.cfg.Ranks,
		LocalRank: i, LocalSize: p.ranks,
		Job: j.id, Host: strconv.Itoa(p.number),
	}
}

// spread reports whether there are ranks on other hosts.
func (j *job) spread() bool {
	return slices.ContainsFunc(j.places, place.elsewhere)
}

// environ returns what a rank is told beside who it is, and where its output ends up.
func (j *job) environ(r Rank) []string {
	env := j.commonEnviron()
	if j.cfg.Interface != "" {
		env = append(env, boot.EnvInterface+"="+j.cfg.Interface)
	}
	return append(env, j.output.Environ(r)...)
}

// commonEnviron returns what all ranks are told in the same way, on all nodes.
func (j *job) commonEnviron() []string {
	var env []string
	if j.cfg.Transport != "" {
		env = append(env, envTransport+"="+j.cfg.Transport)
	}
	if j.cfg.Ports != "" {
		env = append(env, boot.EnvPorts+"="+j.cfg.Ports)
	}
	return append(env, j.cfg.corrections(j.spread())...)
}

// report is how sites say what has happened.
func (j *job) report(event any) {
	select {
	case j.events <- event:
	case <-j.over:
	}
}

// startSites starts the ranks everywhere at the same time.
func (j *job) startSites() {
	j.policy.starting = len(j.sites)
	j.clocks.of = make([]timeline.Clock, len(j.sites))
	for i, s := range j.sites {
		j.clocks.measuring.Go(func() {
			err := s.Start()
			if _, here := s.(*supervise.Ranks); here && err != nil && j.muster != nil {
				err = atFirst(err)
			}
			j.report(siteStarted{err: err})
			if err == nil && j.cfg.Trace != "" {
				j.clocks.measure(i, s)
			}
		})
	}
}

// awaitRanks tells the user, once the first rank has joined, which others have not. It
// returns when all have, or the job is over.
func (j *job) awaitRanks() {
	j.server.AwaitAll(j.over, j.cfg.joinLimit(), func(line string) { j.report(ranksMissing{line}) })
}

// loop handles what happens until every rank has ended.
func (j *job) loop(ctx context.Context) {
	done := ctx.Done()
	for !j.policy.over() {
		select {
		case e := <-j.events:
			j.decide(e)
		case ends := <-j.watch.asks:
			ends <- j.policy.ends()
		case sig := <-j.signals.channel():
			j.decide(userSignal{sig.(syscall.Signal)})
		case <-j.limit.expired():
			j.decide(timedOut{})
		case <-done:
			done = nil
			j.decide(contextEnded{context.Cause(ctx)})
		case err := <-j.output.Broken():
			j.decide(outputFailed{err})
		case <-j.grace:
			j.grace = nil
			j.decide(graceOver{})
		case <-j.notice:
			j.notice = nil
			j.decide(noticeDue{})
		case <-j.progress.due:
			j.progress.show()
		}
	}
}

// decide has the policy decide what an event means, and does that.
func (j *job) decide(event any) {
	actions := j.policy.decide(event, time.Since(j.begun))
	if j.policy.ending {
		j.losses.stop()
	}
	for _, a := range actions {
		j.do(a)
	}
}

func (j *job) do(a action) {
	switch a := a.(type) {
	case signalRanks:
		for _, s := range j.sites {
			s.Signal(a.signal)
		}
	case gatherStacks:
		j.watch.working.Go(func() { j.report(stacksGathered{j.gatherStacks()}) })
	case killLater:
		j.grace = time.After(a.after)
	case tellLater:
		j.notice = time.After(a.after)
	case say:
		// It is not waited for: whoever reads the output may have stopped, and the ranks must end
		// all the same.
		j.output.Interject(func() { j.cfg.Notice(a.sentence) })
	case logLine:
		j.cfg.Log(a.line)
	case announce:
		j.losses.seen(a.failure.Rank)
		j.server.Announce(a.failure)
	case weigh:
		j.decide(lossWeighed{a.rank, j.losses.behind(j.policy.exits[a.rank])})
	case allStarted:
		j.progress.end()
		j.countWaits()
	case look:
		j.watch.tell()
	case suspend:
		j.limit.pause()
		j.begins.Store(nil) // before: this process may go on for a moment, and looks before it has heard of resume
		suspendSelf()
	case resume:
		j.limit.resume()
		if j.begins.Load() == nil && j.policy.starting == 0 {
			j.countWaits()
		}
	}
}

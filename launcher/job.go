package launcher

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
	"github.com/gaspi-go/gaspi-go/launcher/internal/bootstrap"
	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
	"github.com/gaspi-go/gaspi-go/launcher/internal/hosts"
	"github.com/gaspi-go/gaspi-go/launcher/internal/listener"
	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/rendezvous"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
	"github.com/gaspi-go/gaspi-go/launcher/internal/timeline"
)

// A job is a running Config. One goroutine, loop, asks a policy for all that is decided, and
// does it.
type job struct {
	cfg     Config
	id      string
	program *executable.File
	caught  *signals.Caught
	server  *boot.Server
	output  *stdio.Forwarder
	input   *stdio.Input
	thread  *supervise.Thread
	family  *supervise.Children
	losses  *policy.Losses
	watch   *watch
	clocks  clocks

	places       []hosts.Place
	sites        []site
	siteOf       []site                               // index is the rank
	nodes        *rendezvous.Nodes                    // the other nodes, which have come; nil without any
	listener     *listener.Listener                   // where agents and ranks of other hosts connect; nil without any
	shipment     []byte                               // the program, if it is copied to other hosts
	starters     map[*bootstrap.Starter][]*agent.Site // with the hosts that each starts an agent on
	starterEnded chan *bootstrap.Starter

	begins atomic.Pointer[time.Time] // since when waits in gaspi.Init count; nil unless all ranks run

	events chan any      // what sites report; see site.go
	over   chan struct{} // closed when nobody listens to events any more

	// The rest belongs to the goroutine of loop.
	policy   *policy.Policy
	begun    time.Time
	grace    <-chan time.Time // when to kill
	notice   <-chan time.Time // when to tell the user although ranks still run
	limit    pausingTimer
	progress startProgress
}

func newJob(cfg Config, p *executable.File, all []hosts.Place, caught *signals.Caught) (*job, error) {
	if err := cfg.checkDebugged(cfg.Ranks); err != nil {
		return nil, err
	}
	j := &job{
		cfg: cfg, id: boot.NewJobID(), program: p, caught: caught, family: &supervise.Children{}, losses: policy.NewLosses(cfg.Ranks),
		siteOf: make([]site, cfg.Ranks), policy: policy.New(cfg.rules()),
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
		j.losses.Note(by, what)
	})
	return j, nil
}

// run starts the ranks and sees them through to the end.
func (j *job) run(ctx context.Context) (Result, error) {
	if j.cfg.Foreground {
		if err := process.AdoptOrphans(); err != nil {
			j.cfg.Log(fmt.Sprintf("processes that leave their group will not be found: %v", err))
		}
	}
	j.thread = supervise.NewThread()
	defer j.thread.Close()
	j.input = stdio.NewInput(j.cfg.Stdin, j.places[0].Here)
	defer j.input.Close()
	defer j.server.Close()
	defer j.dismissStarters()
	defer func() { j.listener.Close() }()
	err := j.gather(ctx)
	if err == nil {
		err = j.caught.Pending()
	}
	if err != nil {
		why := err
		if j.nodes != nil {
			why = rendezvous.AtFirst(err) // which the other nodes are told
		}
		j.policy.GiveUp(why)
		close(j.over)
		j.closeSites()
		return Result{}, err
	}
	j.begun = time.Now()
	j.startSites()
	j.watch.begin()
	go j.awaitRanks()
	j.progress.begin(j)
	j.input.Begin()
	j.limit.start(j.cfg.Timeout)
	for _, sig := range j.caught.TakeHeld() {
		j.decide(policy.UserSignal{Signal: sig})
	}
	j.loop(ctx)
	j.progress.end()
	close(j.over)
	stats, measured := j.watch.stats(), j.watch.measured()
	j.watch.close()
	trace := j.endTrace()
	j.finish()
	code, sentence, err := j.policy.Verdict()
	if err != nil {
		return Result{}, err
	}
	if code != 0 {
		j.decide(policy.NoticeDue{})
		j.settle()
	}
	result := Result{ExitCode: code, Sentence: sentence, Stats: stats, Measured: measured, Trace: trace}
	result.setExits(j.policy.Exits())
	result.Elapsed = time.Since(j.begun)
	if !j.policy.Interrupted() && j.policy.Ending() && ctx.Err() != nil {
		return result, ctx.Err()
	}
	return result, nil
}

// addSite makes s the site of a place.
func (j *job) addSite(s site, p hosts.Place) {
	j.sites = append(j.sites, s)
	for r := range p.Ranks {
		j.siteOf[int(p.First)+r] = s
	}
}

// atSites calls do with each site and its index, all at the same time, and returns when all calls have.
func (j *job) atSites(do func(i int, s site)) {
	var all sync.WaitGroup
	for i, s := range j.sites {
		all.Go(func() { do(i, s) })
	}
	all.Wait()
}

// local returns the site of the ranks of this host.
func (j *job) local(p hosts.Place) *supervise.Ranks {
	t := supervise.Task{
		Command: j.program.Command(j.cfg.Program, "", j.cfg.Args),
		First:   p.First, Cores: j.cfg.Bind == BindCore,
		Grace: j.cfg.KillGrace, Stopped: j.cfg.silence(), Adopt: j.cfg.Foreground,
		JobRanks: j.cfg.Ranks, Measure: j.cfg.Measure, Probe: probing(j.cfg.Probe), Slots: j.slots(), Debug: j.cfg.Debug,
		Files:  func(r Rank) (*stdio.Files, error) { return j.output.Files(r, j.input) },
		Link:   func(r Rank) (*os.File, error) { return j.server.Attach(r) },
		Report: j.report, Log: j.cfg.Log, Thread: j.thread, Children: j.family,
	}
	t.Command.Inherited, t.Command.Added = os.Environ(), j.cfg.Env
	for i := range p.Ranks {
		info := j.info(p, i)
		t.Own = append(t.Own, append(info.Environ(supervise.BootFD), j.environ(info.Rank)...))
	}
	return supervise.New(t)
}

// info says who the i-th rank of a place is.
func (j *job) info(p hosts.Place, i int) boot.Info {
	return boot.Info{
		Rank: p.First + Rank(i), Size: j.cfg.Ranks,
		LocalRank: i, LocalSize: p.Ranks,
		Job: j.id, Host: strconv.Itoa(p.Number),
	}
}

// spread reports whether there are ranks on other hosts.
func (j *job) spread() bool {
	return slices.ContainsFunc(j.places, hosts.Place.Elsewhere)
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
	j.policy.Begin(len(j.sites))
	j.clocks.of = make([]timeline.Clock, len(j.sites))
	for i, s := range j.sites {
		j.clocks.measuring.Go(func() {
			err := s.Start()
			if _, here := s.(*supervise.Ranks); here && err != nil && j.nodes != nil {
				err = rendezvous.AtFirst(err)
			}
			j.report(policy.SiteStarted{Err: err})
			if err == nil && j.cfg.Trace != "" {
				j.clocks.measure(i, s)
			}
		})
	}
}

// awaitRanks tells the user, once the first rank has joined, which others have not. It
// returns when all have, or the job is over.
func (j *job) awaitRanks() {
	j.server.AwaitAll(j.over, j.cfg.joinLimit(), func(line string) { j.report(policy.Notice{Text: line}) })
}

// loop handles what happens until every rank has ended.
func (j *job) loop(ctx context.Context) {
	done := ctx.Done()
	for !j.policy.Over() {
		select {
		case e := <-j.events:
			j.decide(e)
		case ends := <-j.watch.asks:
			ends <- j.policy.Ends()
		case sig := <-j.caught.Channel():
			j.decide(policy.UserSignal{Signal: sig.(syscall.Signal)})
		case <-j.limit.expired():
			j.decide(policy.TimedOut{})
		case <-done:
			done = nil
			j.decide(policy.ContextEnded{Cause: context.Cause(ctx)})
		case err := <-j.output.Broken():
			j.decide(policy.OutputFailed{Err: err})
		case <-j.grace:
			j.grace = nil
			j.decide(policy.GraceOver{})
		case <-j.notice:
			j.notice = nil
			j.decide(policy.NoticeDue{})
		case <-j.progress.due:
			j.progress.show()
		}
	}
}

// decide has the policy decide what an event means, and does that.
func (j *job) decide(event any) {
	actions := j.policy.Decide(event, time.Since(j.begun))
	if j.policy.Ending() {
		j.losses.Stop()
	}
	for _, a := range actions {
		j.do(a)
	}
}

func (j *job) do(a any) {
	switch a := a.(type) {
	case policy.SignalRanks:
		for _, s := range j.sites {
			s.Signal(a.Signal)
		}
	case policy.GatherStacks:
		j.watch.working.Go(func() { j.report(policy.StacksGathered{Text: j.gatherStacks()}) })
	case policy.KillLater:
		j.grace = time.After(a.After)
	case policy.TellLater:
		j.notice = time.After(a.After)
	case policy.Say:
		// It is not waited for: whoever reads the output may have stopped, and the ranks must end
		// all the same.
		j.output.Interject(func() { j.cfg.Notice(a.Sentence) })
	case policy.LogLine:
		j.cfg.Log(a.Line)
	case policy.Announce:
		j.losses.Seen(a.Failure.Rank)
		j.server.Announce(a.Failure)
	case policy.Weigh:
		j.decide(policy.LossWeighed{Rank: a.Exit.Rank, Loss: j.losses.Behind(a.Exit)})
	case policy.AllStarted:
		j.progress.end()
		j.countWaits()
	case policy.Look:
		j.watch.tell()
	case policy.Suspend:
		j.limit.pause()
		j.begins.Store(nil) // before: this process may go on for a moment, and looks before it has heard of resume
		signals.Suspend()
	case policy.Resume:
		j.limit.resume()
		if j.begins.Load() == nil && !j.policy.Starting() {
			j.countWaits()
		}
	}
}

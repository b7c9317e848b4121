package launcher

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A job is a running Config. One goroutine, loop, decides everything.
type job struct {
	cfg     Config
	id      string
	program *program
	signals *signals
	server  *boot.Server
	output  *output
	input   *input
	thread  *thread
	family  *ownChildren
	losses  *losses

	places       []place
	sites        []site
	siteOf       []site   // index is the rank
	muster       *muster  // where nodes have come together; nil without any
	doorway      *doorway // where agents and ranks of other hosts come in; nil without any
	shipment     []byte   // the program, if it is copied to other hosts
	carriers     []*carrier
	carrierEnded chan *carrier

	events chan any      // what sites report; see site.go
	over   chan struct{} // closed when nobody listens to events any more

	// The rest belongs to the goroutine of loop.
	begun     time.Time
	starting  int // sites whose start has not returned
	running   int // ranks whose end was not reported
	startErr  error
	exits     []RankExit // index is the rank
	gone      []bool     // index is the rank: its end was reported
	cause     *cause
	ending    bool             // the ranks were told to end
	interrupt syscall.Signal   // the signal that ended the job, or 0
	grace     <-chan time.Time // when to kill
	notice    <-chan time.Time // when to tell the user although ranks still run
	limit     pausingTimer
	progress  startProgress
	first     *RankExit
}

func newJob(cfg Config, p *program, all []place, signals *signals) (*job, error) {
	j := &job{
		cfg: cfg, id: boot.NewJobID(), program: p, signals: signals, family: &ownChildren{}, losses: newLosses(cfg.Ranks),
		siteOf: make([]site, cfg.Ranks), exits: make([]RankExit, cfg.Ranks), gone: make([]bool, cfg.Ranks), running: cfg.Ranks,
		places: all, events: make(chan any, 2*cfg.Ranks), over: make(chan struct{}),
	}
	for r := range j.exits {
		j.exits[r].Rank = Rank(r)
	}
	var err error
	if j.output, err = newOutput(cfg); err != nil {
		return nil, err
	}
	j.server, err = boot.NewServer(j.id, cfg.Ranks, func(r base.Rank) error { return j.siteOf[r].kill(r) })
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
	j.thread = newThread()
	defer j.thread.close()
	j.input = newInput(j.cfg.Stdin, j.places[0].here)
	defer j.input.close()
	defer j.server.Close()
	defer j.dismissCarriers()
	defer func() { j.doorway.close() }()
	if err := j.gather(ctx); err != nil {
		j.startErr = err
		if j.muster != nil {
			j.startErr = atFirst(err) // which the other nodes are told
		}
		close(j.over)
		j.closeSites()
		return Result{}, err
	}
	j.begun = time.Now()
	j.startSites()
	go j.awaitRanks()
	j.progress.begin(j)
	j.input.begin()
	j.limit.start(j.cfg.Timeout)
	j.loop(ctx)
	j.progress.end()
	close(j.over)
	j.finish()
	if j.startErr != nil {
		return Result{}, j.startErr
	}
	result := Result{First: j.first, Ranks: j.exits}
	if j.cause != nil {
		j.tell()
		j.settle()
		result.ExitCode, result.Sentence = j.cause.code, j.cause.sentence(true)
	}
	result.Elapsed = time.Since(j.begun)
	if j.interrupt == 0 && j.ending && ctx.Err() != nil {
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

// localCrew returns the site of the ranks of this host.
func (j *job) localCrew(p place) *crew {
	c := &crew{
		task: task{
			program: j.program, title: j.cfg.Program, args: j.cfg.Args,
			inherited: os.Environ(), added: j.cfg.Env,
			bind: j.cfg.Bind, grace: j.cfg.KillGrace, stopLimit: j.cfg.silence(), adopt: j.cfg.Foreground,
		},
		first: p.first, report: j.report, log: j.cfg.Log, thread: j.thread, family: j.family,
	}
	for i := range p.ranks {
		info := j.info(p, i)
		c.ranks = append(c.ranks, &rank{number: info.Rank, env: append(info.Environ(bootFD), j.environ(info.Rank)...)})
	}
	c.link = func(r Rank) (*os.File, error) { return j.server.Attach(r) }
	c.files = func(r Rank) (*rankFiles, error) {
		return openRankFiles(
			func(f *rankFiles) (*os.File, error) { return j.input.file(r, f) },
			func(kind string, f *rankFiles) (*os.File, error) { return j.output.file(r, kind, f) })
	}
	c.equip()
	return c
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
	return slices.ContainsFunc(j.places, func(p place) bool { return !p.here })
}

// environ returns what a rank is told beside who it is, and where its output ends up.
func (j *job) environ(r Rank) []string {
	env := j.commonEnviron()
	if j.cfg.Interface != "" {
		env = append(env, envInterface+"="+j.cfg.Interface)
	}
	return append(env, j.output.environ(r)...)
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
	if j.spread() || j.cfg.TLS {
		env = append(env, boot.EnvTLS+"="+map[bool]string{false: "0", true: "1"}[j.cfg.TLS])
	}
	if j.spread() {
		env = append(env, boot.EnvHeartbeat+"="+j.cfg.silence().String())
	}
	return env
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
	j.starting = len(j.sites)
	for _, s := range j.sites {
		go func() {
			err := s.start()
			if _, here := s.(*crew); here && err != nil && j.muster != nil {
				err = atFirst(err)
			}
			j.report(siteStarted{err: err})
		}()
	}
}

// awaitRanks tells the user, once the first rank has joined, which others have not. It
// returns when all have, or the job is over.
func (j *job) awaitRanks() {
	j.server.AwaitAll(j.over, j.joinLimit(), func(line string) { j.report(ranksMissing{line}) })
}

// joinLimit is how long ranks may take to join once the first has. There is no limit
// unless the environment of ranks has one that makes sense.
func (j *job) joinLimit() time.Duration {
	text := os.Getenv(boot.EnvJoinTimeout)
	for _, kv := range j.cfg.Env {
		if value, ok := strings.CutPrefix(kv, boot.EnvJoinTimeout+"="); ok {
			text = value
		}
	}
	limit, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return max(limit, 0)
}

// loop handles what happens until every rank has ended.
func (j *job) loop(ctx context.Context) {
	done := ctx.Done()
	for j.running > 0 || j.starting > 0 {
		select {
		case e := <-j.events:
			j.handle(e)
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
		case <-j.progress.due:
			j.progress.show()
		}
	}
}

// handle is told what has happened at a site.
func (j *job) handle(event any) {
	switch e := event.(type) {
	case siteStarted:
		if j.starting--; j.starting == 0 {
			j.progress.end()
		}
		if e.err != nil && j.startErr == nil && !j.ending {
			j.startErr = e.err
			j.killAll()
		}
	case rankEnded:
		j.rankEnded(e)
	case rankStopped:
		j.rankStopped(e)
	case siteLost:
		j.siteLost(e)
	case ranksMissing:
		j.output.interject(func() { j.cfg.Notice(e.sentence) })
	case nodeDemands:
		j.demanded(e)
	}
}

// siteLost decides what the loss of a host means: all its ranks have failed, and
// the user reads one sentence.
func (j *job) siteLost(e siteLost) {
	var lost []Rank
	for _, r := range e.ranks {
		if j.record(r) {
			lost = append(lost, r.rank)
		}
	}
	if len(lost) == 0 || j.ending {
		j.cfg.Log(e.reason)
		return
	}
	if j.first == nil {
		first := j.exits[lost[0]]
		j.first = &first
	}
	j.fail(cause{code: 1, what: e.reason, after: time.Since(j.begun), fatal: j.cfg.OnFailure == Abort})
}

// rankEnded decides what the end of a rank means for the others.
func (j *job) rankEnded(e rankEnded) {
	if !j.record(e) || e.pid == 0 {
		return
	}
	exit := j.exits[e.rank]
	if !exit.Failed() || j.ending {
		return
	}
	if j.first == nil {
		j.first = &exit
	}
	j.fail(cause{
		code: exit.Code(), what: exit.describe(), after: exit.After, loss: j.losses.behind(exit), fatal: j.cfg.OnFailure == Abort,
	})
}

// record notes the end of a rank and announces it, once.
func (j *job) record(e rankEnded) bool {
	if j.gone[e.rank] {
		return false
	}
	j.gone[e.rank] = true
	j.losses.seen(e.rank)
	j.running--
	if e.pid == 0 && e.lost == "" {
		j.server.Announce(boot.Failure{Rank: e.rank, Reason: "it was not started"})
		return true
	}
	exit := &j.exits[e.rank]
	exit.PID, exit.Status, exit.Signal, exit.Core = e.pid, e.exit.Status, e.exit.Signal, e.exit.Core
	exit.After, exit.Ended, exit.Why, exit.Lost = e.after, j.ending, e.why, e.lost
	if e.lost != "" {
		exit.Status = 1
	}
	if e.err != nil { // not seen to happen; the rank must count as failed
		exit.Status, exit.Lost = 1, "its end cannot be seen: "+e.err.Error()
	}
	j.cfg.Log(exit.describe() + " after " + seconds(exit.After))
	j.server.Announce(boot.Failure{Rank: e.rank, Left: !exit.Failed(), Reason: exit.reason()})
	return true
}

// rankStopped tells the user, who may have meant it.
func (j *job) rankStopped(e rankStopped) {
	if j.ending {
		return
	}
	sentence := fmt.Sprintf("rank %d (pid %d) is stopped by signal %d (%v)", e.rank, e.pid, int(e.sig), e.sig)
	if e.limit > 0 {
		sentence += fmt.Sprintf("; it is killed if it does not go on within %s", round(e.limit))
	}
	j.output.interject(func() { j.cfg.Notice(sentence) })
}

// Package supervise starts the ranks of this host as child processes, watches them, signals them
// and ends them, with all that they have started.
//
// It knows neither the job nor other hosts: it reports what becomes of a rank, and package
// launcher decides what that means. The launcher does so for the ranks of its own host, and an
// agent for those of another one.
package supervise

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// Ranks are the processes of the ranks of this host.
type Ranks struct {
	task  Task
	ranks []*rank
	told  told
	probe *probe

	begun   time.Time
	started atomic.Int64 // ranks
	keeper  *keeper
	stops   *stopWatch
	ends    *endWatch

	mu     sync.Mutex
	ending syscall.Signal // what told the ranks to end, or 0; then no more are started
}

// New returns the ranks of a task, of which none is started. Close must be called in the end.
func New(t Task) *Ranks {
	a := &Ranks{task: t}
	for i, own := range t.Own {
		number := t.First + base.Rank(i)
		a.ranks = append(a.ranks, &rank{number: number, env: own, debugged: slices.Contains(t.Debug, number)})
	}
	a.stops, a.ends = newStopWatch(a), newEndWatch(a)
	a.told, a.probe = openTold(t), openProbe(t)
	return a
}

// Start starts the ranks one after the other, and reports a RankEnded for each one that could not
// be started. It returns when all have begun to execute the program, or why not all have.
func (a *Ranks) Start() (err error) {
	a.begun = time.Now()
	a.keeper = startKeeper(a)
	if err = a.ends.begin(); err != nil {
		err = a.hint(err)
	} else {
		a.task.Thread.Do(func() { err = a.startInThread() })
	}
	for _, r := range a.ranks {
		if r.pid() == 0 {
			a.task.Report(RankEnded{Rank: r.number})
		}
	}
	a.stops.begin()
	return err
}

// startInThread starts the ranks one after the other.
func (a *Ranks) startInThread() error {
	if err := a.task.Command.Check(); err != nil {
		return err
	}
	if slices.ContainsFunc(a.ranks, func(r *rank) bool { return r.debugged }) {
		if _, err := findDebugger(); err != nil {
			return err
		}
	}
	var cores []int
	if a.task.Cores {
		all, err := thread.Cores()
		if err != nil {
			return fmt.Errorf("bind ranks to cores: %w", err)
		}
		cores = all
		defer thread.SetCores(all)
	}
	defer a.spareCores()()
	for i, r := range a.ranks {
		if cores != nil {
			if err := thread.SetCores([]int{CoreOf(i, len(a.ranks), cores)}); err != nil {
				return fmt.Errorf("bind rank %d: %w", r.number, err)
			}
		}
		if a.endingBy() != 0 {
			return ErrEnded
		}
		if err := a.startRank(r); err != nil {
			if _, ok := errors.AsType[*StartError](err); ok {
				return err // which is true of any rank
			}
			return fmt.Errorf("start rank %d: %w", r.number, a.hint(err))
		}
	}
	return nil
}

// Slack of the timers of ranks: what it is elsewhere, for each rank that shares a core, up to mostSlack.
const (
	slackOfRank = 50 * time.Microsecond
	mostSlack   = 5 * time.Millisecond // to wait for a turn among a hundred ranks may take longer
)

// spareCores lets the timers of ranks that outnumber the cores go off a little later. The Go runtime of a process that
// has begun to run after a sleep looks at it some sixty times, 20 us apart: with 64 ranks a core those who looked had the
// cores for most of the time of a first barrier. It returns what gives the thread its own slack back. A system that
// knows no slack, or forbids to set it, costs no more than that time.
func (a *Ranks) spareCores() (restore func()) {
	own, err := thread.TimerSlack()
	slack := slackOf(len(a.ranks), runtime.GOMAXPROCS(0))
	if err != nil || slack <= own || thread.SetTimerSlack(slack) != nil {
		return func() {}
	}
	return func() { _ = thread.SetTimerSlack(own) }
}

// slackOf returns the slack of the timers of so many ranks that share cores cores.
func slackOf(ranks, cores int) time.Duration {
	return min(time.Duration((ranks+cores-1)/cores)*slackOfRank, mostSlack)
}

// Open files of this process, as they are counted: for each rank its output, its error
// output, its line to the launcher and two descriptors of its process; and some for all.
const (
	filesOfRank = 5
	filesOfAll  = 32
)

// hint adds to an error what helps against it.
func (a *Ranks) hint(err error) error {
	if !errors.Is(err, syscall.EMFILE) {
		return err
	}
	// The soft limit has been raised to the hard one by the Go runtime.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	need := filesOfRank*len(a.ranks) + filesOfAll
	return fmt.Errorf("%w: %d %s of one host take about %d open files here, and %d are allowed; raise the hard limit (ulimit -Hn %d as root, /etc/security/limits.conf or LimitNOFILE), or spread them over more hosts",
		err, len(a.ranks), phrase.Plural(len(a.ranks), "rank", "ranks"), need, limit.Cur, need)
}

// startRank starts one rank and begins to watch it.
func (a *Ranks) startRank(r *rank) error {
	inherit, err := a.task.Link(r.number)
	if err != nil {
		return err
	}
	defer inherit.Close()
	files, err := a.task.Files(r.number)
	if err != nil {
		return err
	}
	defer files.Close()
	// A quota of processor time counts too, which the Go runtime has looked up.
	own := append(r.env, fmt.Sprintf("%s=%d", boot.EnvLocalCores, runtime.GOMAXPROCS(0)))
	inherited := []*os.File{files.Stdin, files.Stdout, files.Stderr, inherit}
	if file := a.task.Command.File; file != nil {
		inherited = append(inherited, file)
	}
	for _, file := range []struct {
		*os.File
		variable string
	}{{a.told.status, status.EnvFD}, {a.told.measures, netstat.EnvFD}, {a.told.trace, trace.EnvFD}} {
		if file.File != nil {
			own = append(own, fmt.Sprintf("%s=%d", file.variable, len(inherited)))
			inherited = append(inherited, file.File)
		}
	}
	path, argv, attach, err := a.invocation(r)
	if err != nil {
		return err
	}
	var pid int
	err = a.task.Children.Begin(func() (int, error) {
		pid, err = r.start(func() (*os.Process, error) {
			return os.StartProcess(path, argv, &os.ProcAttr{
				Dir:   a.task.Command.Dir,
				Env:   environ(a.task.Command.Inherited, a.task.Command.Added, own),
				Files: inherited,
				Sys:   DyingWithParent(syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL),
			})
		})
		if err != nil {
			return 0, a.task.Command.Explain(err)
		}
		return pid, nil
	})
	if err != nil {
		return err
	}
	a.started.Add(1)
	a.ends.watch(r, pid)
	a.probe.add(pid)
	if err := a.keeper.keep(pid); err != nil {
		a.task.Log(fmt.Sprintf(unkept, err))
	}
	if sig := a.endingBy(); sig != 0 {
		r.signalGroup(sig) // it came while the rank was not there yet
	}
	a.task.Log(fmt.Sprintf("rank %d is process %d", r.number, pid))
	if attach != "" {
		a.task.Report(RankDebugged{Rank: r.number, Attach: attach})
	}
	return nil
}

// Begun returns the number of ranks that have been started.
func (a *Ranks) Begun() int { return int(a.started.Load()) }

func (a *Ranks) endingBy() syscall.Signal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ending
}

// EndSignals are the signals that end a job, with their names.
var EndSignals = map[syscall.Signal]string{
	syscall.SIGINT:  "SIGINT",
	syscall.SIGTERM: "SIGTERM",
	syscall.SIGHUP:  "SIGHUP",
}

// Signal sends sig to the process group of each rank. SIGTSTP suspends the ranks until SIGCONT:
// they do not count as stopped meanwhile. After a signal that ends a job no more ranks are
// started.
func (a *Ranks) Signal(sig syscall.Signal) {
	if sig == syscall.SIGKILL || EndSignals[sig] != "" && a.endingBy() == 0 {
		a.mu.Lock()
		a.ending = sig
		a.mu.Unlock()
	}
	if sig == syscall.SIGTSTP {
		a.stops.suspend(true)
	}
	for _, r := range a.ranks {
		r.signalGroup(sig)
	}
	if sig == syscall.SIGCONT {
		a.stops.suspend(false)
	}
}

// Kill kills rank r, at once or as soon as it has been started. It does nothing to a rank that
// has ended.
func (a *Ranks) Kill(r base.Rank) error { return a.ranks[r-a.task.First].kill("") }

// PIDs returns the processes of the ranks, 0 for each one that is not started.
func (a *Ranks) PIDs() (list []int) {
	for _, r := range a.ranks {
		list = append(list, r.pid())
	}
	return list
}

// AwaitEnds returns when the ends of all ranks have been reported.
func (a *Ranks) AwaitEnds() { a.ends.await() }

// Close ends the watch for stopped ranks, waits for the goroutines that watch ranks, and
// dismisses the keeper. Nothing that ranks have told or the kernel has measured is known any more.
func (a *Ranks) Close() {
	a.stops.close()
	a.ends.close()
	a.keeper.dismiss()
	a.told.close()
	a.probe.close()
}

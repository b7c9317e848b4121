package launcher

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
)

// bootFD is the number under which a rank inherits its line to the launcher, or
// the file with the key of the job.
const bootFD = 3

// programFD is the number under which a rank inherits the file of its program,
// if that is a script without a name: its interpreter opens it.
const programFD = 4

// A task is what a crew does: which ranks of which program, and how.
type task struct {
	program   *program
	title     string   // the program, as the user wrote it
	args      []string // after the program's name
	dir       string   // where ranks start; empty: where this process is
	inherited []string // environment, of which added and own variables replace entries
	added     []string
	bind      Bind
	grace     time.Duration // see Config.KillGrace
	stopLimit time.Duration // how long a rank may be stopped before it is killed
	adopt     bool          // end processes that leave their group; needs sys.AdoptOrphans
}

// A crew is the ranks of this host. It is the site that does the work; an agent
// runs one for a launcher elsewhere.
type crew struct {
	task
	ranks  []*rank
	first  Rank // ranks have consecutive numbers
	files  func(r Rank) (*stdio.Files, error)
	link   func(r Rank) (*os.File, error) // what is inherited as bootFD
	report func(event any)
	log    func(line string)
	thread *thread
	family *ownChildren

	begun   time.Time
	started atomic.Int64 // ranks
	keeper  *keeper
	stops   *stopWatch
	ends    *endWatch

	mu     sync.Mutex
	ending syscall.Signal // what told the ranks to end, or 0; then no more are started
}

var errEnded = errors.New("the job has ended before all ranks were started")

// equip makes what watches the ranks.
func (c *crew) equip() { c.stops, c.ends = newStopWatch(c), newEndWatch(c) }

// start starts the ranks of this host one after the other, and reports a rankEnded for each one
// that could not be started.
func (c *crew) start() (err error) {
	c.begun = time.Now()
	c.keeper = startKeeper(c)
	if err = c.ends.begin(); err != nil {
		err = c.hint(err)
	} else {
		c.thread.do(func() { err = c.startInThread() })
	}
	for _, r := range c.ranks {
		if r.pid() == 0 {
			c.report(rankEnded{rank: r.number})
		}
	}
	c.stops.begin()
	return err
}

// startInThread starts the ranks one after the other.
func (c *crew) startInThread() error {
	if err := checkWhole(c.program.seen(), c.title); err != nil {
		return err
	}
	var cores []int
	if c.bind == BindCore {
		all, err := sys.ThreadCores()
		if err != nil {
			return fmt.Errorf("bind ranks to cores: %w", err)
		}
		cores = all
		defer sys.SetThreadCores(all)
	}
	for i, r := range c.ranks {
		if cores != nil {
			if err := sys.SetThreadCores([]int{cores[i%len(cores)]}); err != nil {
				return fmt.Errorf("bind rank %d: %w", r.number, err)
			}
		}
		if c.endingBy() != 0 {
			return errEnded
		}
		if err := c.startRank(r); err != nil {
			if _, ok := errors.AsType[*startError](err); ok {
				return err // which is true of any rank
			}
			return fmt.Errorf("start rank %d: %w", r.number, c.hint(err))
		}
	}
	return nil
}

// Open files of this process, as they are counted: for each rank its output, its error
// output, its line to the launcher and two descriptors of its process; and some for all.
const (
	filesOfRank = 5
	filesOfAll  = 32
)

// hint adds to an error what helps against it.
func (c *crew) hint(err error) error {
	if !errors.Is(err, syscall.EMFILE) {
		return err
	}
	// The soft limit has been raised to the hard one by the Go runtime.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	need := filesOfRank*len(c.ranks) + filesOfAll
	return fmt.Errorf("%w: %d %s of one host take about %d open files here, and %d are allowed; raise the hard limit (ulimit -Hn %d as root, /etc/security/limits.conf or LimitNOFILE), or spread them over more hosts",
		err, len(c.ranks), plural(len(c.ranks), "rank", "ranks"), need, limit.Cur, need)
}

// startRank starts one rank and begins to watch it.
func (c *crew) startRank(r *rank) error {
	inherit, err := c.link(r.number)
	if err != nil {
		return err
	}
	defer inherit.Close()
	files, err := c.files(r.number)
	if err != nil {
		return err
	}
	defer files.Close()
	// A quota of processor time counts too, which the Go runtime has looked up.
	own := append(r.env, fmt.Sprintf("%s=%d", boot.EnvLocalCores, runtime.GOMAXPROCS(0)))
	inherited := []*os.File{files.Stdin, files.Stdout, files.Stderr, inherit}
	if c.program.file != nil {
		inherited = append(inherited, c.program.file)
	}
	var pid int
	err = c.family.begin(func() (int, error) {
		pid, err = r.start(func() (*os.Process, error) {
			return os.StartProcess(c.program.path, append([]string{c.program.name}, c.args...), &os.ProcAttr{
				Dir:   c.dir,
				Env:   rankEnviron(c.inherited, c.added, own),
				Files: inherited,
				Sys:   dyingWithParent(syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL),
			})
		})
		if err != nil {
			return 0, whyNotStarted(err, c.program.seen(), c.title, c.dir)
		}
		return pid, nil
	})
	if err != nil {
		return err
	}
	c.started.Add(1)
	c.ends.watch(r, pid)
	if err := c.keeper.keep(pid); err != nil {
		c.log(fmt.Sprintf(unkept, err))
	}
	if sig := c.endingBy(); sig != 0 {
		r.signalGroup(sig) // it came while the rank was not there yet
	}
	c.log(fmt.Sprintf("rank %d is process %d", r.number, pid))
	return nil
}

// begunRanks returns the number of ranks that have been started.
func (c *crew) begunRanks() int { return int(c.started.Load()) }

func (c *crew) endingBy() syscall.Signal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ending
}

// signal sends sig to the process group of each rank. SIGTSTP suspends the ranks until SIGCONT:
// they do not count as stopped meanwhile.
func (c *crew) signal(sig syscall.Signal) {
	if sig == syscall.SIGKILL || endSignals[sig] != "" && c.endingBy() == 0 {
		c.mu.Lock()
		c.ending = sig
		c.mu.Unlock()
	}
	if sig == syscall.SIGTSTP {
		c.stops.suspend(true)
	}
	for _, r := range c.ranks {
		r.signalGroup(sig)
	}
	if sig == syscall.SIGCONT {
		c.stops.suspend(false)
	}
}

// kill kills rank r, at once or as soon as it has been started.
func (c *crew) kill(r Rank) error { return c.ranks[r-c.first].kill("") }

// close ends the watch for stopped ranks, waits for the goroutines that watch ranks, and
// dismisses the keeper.
func (c *crew) close() {
	c.stops.close()
	c.ends.close()
	c.keeper.dismiss()
}

package launcher

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// bootFD is the number under which a rank inherits its connection.
const bootFD = 3

// A rank is one process of the job, from before it is started until after it
// has ended. Its process is not reaped until the end of the job, so its number
// and that of its process group belong to nobody else meanwhile.
type rank struct {
	number Rank

	mu      sync.Mutex
	process *os.Process // nil until started
	doomed  bool        // kill as soon as it is started
	reaped  bool

	exit RankExit // completed by the job's loop
}

// signalGroup sends sig to the rank and its children, unless it is not started.
func (r *rank) signalGroup(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil && !r.reaped {
		syscall.Kill(-r.process.Pid, sig)
	}
}

// kill ends the rank alone, now or as soon as it is started.
func (r *rank) kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		r.doomed = true
		return nil
	}
	if r.reaped {
		return nil
	}
	return syscall.Kill(r.process.Pid, syscall.SIGKILL)
}

// started takes the process over.
func (r *rank) started(p *os.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process = p
	r.exit = RankExit{Rank: r.number, PID: p.Pid}
	if r.doomed {
		syscall.Kill(p.Pid, syscall.SIGKILL)
	}
}

// reap takes the remains of a rank that has ended. Its process group may still
// have members; it exists, under the same number, for as long as it does.
func (r *rank) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil && !r.reaped {
		r.process.Wait()
		r.reaped = true
	}
}

// A spawner starts the ranks from one thread that lives as long as the job: the
// system kills a rank when the thread that started it ends, whatever becomes of
// the other threads, and cores are inherited from that thread.
type spawner struct {
	over  chan struct{} // closed to let the thread go
	ended chan struct{} // closed when it has gone
}

// startAll starts every rank and returns when all have begun to execute the
// program, or with the first error; some may be running then.
func (j *job) startAll() (*spawner, error) {
	s := &spawner{over: make(chan struct{}), ended: make(chan struct{})}
	result := make(chan error)
	go func() {
		defer close(s.ended)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result <- j.startInThread()
		<-s.over
	}()
	return s, <-result
}

func (s *spawner) close() {
	close(s.over)
	<-s.ended
}

// startInThread starts the ranks one after the other.
func (j *job) startInThread() error {
	var cores []int
	if j.cfg.Bind == BindCore {
		all, err := sys.ThreadCores()
		if err != nil {
			return fmt.Errorf("bind ranks to cores: %w", err)
		}
		cores = all
		defer sys.SetThreadCores(all)
	}
	inherited := os.Environ()
	for _, r := range j.ranks {
		if cores != nil {
			if err := sys.SetThreadCores([]int{cores[int(r.number)%len(cores)]}); err != nil {
				return fmt.Errorf("bind rank %d: %w", r.number, err)
			}
		}
		if err := j.start(r, inherited); err != nil {
			return fmt.Errorf("start rank %d: %w", r.number, err)
		}
	}
	return nil
}

// start starts one rank and begins to watch it.
func (j *job) start(r *rank, inherited []string) error {
	child, err := j.server.Attach(r.number)
	if err != nil {
		return err
	}
	defer child.Close()
	files, err := j.files(r.number)
	if err != nil {
		return err
	}
	defer files.closeChildEnds()
	info := boot.Info{
		Rank: r.number, Size: len(j.ranks),
		LocalRank: int(r.number), LocalSize: len(j.ranks),
		Job: j.id,
	}
	own := append(info.Environ(bootFD), j.output.environ(r.number)...)
	// A quota of processor time counts too, which the Go runtime has looked up.
	own = append(own, fmt.Sprintf("%s=%d", boot.EnvLocalCores, runtime.GOMAXPROCS(0)))
	process, err := os.StartProcess(j.program.path, append([]string{j.program.name}, j.cfg.Args...), &os.ProcAttr{
		Env:   rankEnviron(inherited, j.cfg.Env, own),
		Files: []*os.File{files.stdin, files.stdout, files.stderr, child},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", j.cfg.Program, err)
	}
	r.started(process)
	j.cfg.Log("rank " + strconv.Itoa(int(r.number)) + " is process " + strconv.Itoa(process.Pid))
	j.watching.Go(func() {
		exit, err := sys.AwaitExit(process.Pid)
		j.exits <- rankEnded{r: r, exit: exit, err: err, at: time.Now()}
	})
	return nil
}

package supervise

import (
	"os"
	"sync"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// A rank is one process of Ranks, from before it is started until after it has
// ended. Its process is not reaped until the end of the job, so its number and
// that of its process group belong to nobody else meanwhile.
type rank struct {
	number base.Rank
	env    []string // the variables by which it knows who it is

	debugged bool // it is started in a debugger

	mu      sync.Mutex
	process *os.Process // nil until started
	doomed  bool        // kill as soon as it is started
	ended   bool        // its end was seen
	reaped  bool
	empty   bool   // its process group was seen without a member after it was reaped
	why     string // what it was killed for, if this process did it for a reason of its own
}

// pid is 0 for a rank that is not started.
func (r *rank) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		return 0
	}
	return r.process.Pid
}

// signalGroup sends sig to the rank and its children, unless it is not started.
func (r *rank) signalGroup(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil && !r.reaped {
		syscall.Kill(-r.process.Pid, sig)
	}
}

// kill ends the rank alone, now or as soon as it is started. An empty why stands
// for somebody else's reason.
func (r *rank) kill(why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.reaped {
		return nil
	}
	if r.why == "" {
		r.why = why
	}
	if r.process == nil {
		r.doomed = true
		return nil
	}
	return syscall.Kill(r.process.Pid, syscall.SIGKILL)
}

// start starts the rank's process by begin. A signal that comes meanwhile waits until
// it can be sent: the process may run, and be known to others, before begin returns.
func (r *rank) start(begin func() (*os.Process, error)) (pid int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := begin()
	if err != nil {
		return 0, err
	}
	r.process = p
	if r.doomed {
		syscall.Kill(p.Pid, syscall.SIGKILL)
	}
	return p.Pid, nil
}

// end notes that the rank has ended, and returns what it was killed for.
func (r *rank) end() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.why
}

// running reports whether the rank is started and was not seen to end.
func (r *rank) running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process != nil && !r.ended
}

// reap takes the remains of a rank that has ended. Its process group may still
// have members: the number belongs to it until leftGroup has seen none.
func (r *rank) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil && !r.reaped {
		r.process.Wait()
		r.reaped = true
	}
}

// leftGroup returns the process group of a rank that was reaped, or 0 if the group has no
// member that can be signalled. It looks no more at a group that was without one: from then on
// the system may give its number to a process of somebody else.
func (r *rank) leftGroup() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil || r.empty {
		return 0
	}
	process.ReapGroup(r.process.Pid) // adopted ones, which Children does not know in every PID namespace
	if syscall.Kill(-r.process.Pid, 0) != nil {
		r.empty = true
		return 0
	}
	return r.process.Pid
}

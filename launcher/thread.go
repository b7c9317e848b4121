package launcher

import (
	"runtime"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A thread starts processes from one thread of the system, which lives until
// close: the system kills a process with Pdeathsig when the thread that started
// it ends, whatever becomes of the other threads, and cores are inherited from
// that thread.
type thread struct {
	work  chan func()
	ended chan struct{} // closed when it has gone
}

func newThread() *thread {
	t := &thread{work: make(chan func()), ended: make(chan struct{})}
	go t.loop()
	return t
}

func (t *thread) loop() {
	defer close(t.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for f := range t.work {
		f()
	}
}

// do runs f in the thread and returns when it has ended.
func (t *thread) do(f func()) {
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// close lets the thread go. Nothing may call do any more.
func (t *thread) close() {
	close(t.work)
	<-t.ended
}

// dyingWithParent returns attr for a process that gets signal when the thread that
// starts it ends.
func dyingWithParent(attr syscall.SysProcAttr, signal syscall.Signal) *syscall.SysProcAttr {
	sys.DieWithParent(&attr, signal)
	return &attr
}

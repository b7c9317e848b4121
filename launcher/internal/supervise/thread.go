package supervise

import (
	"runtime"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/sys/process"
)

// A Thread starts processes from one thread of the system, which lives until
// Close: the system kills a process with Pdeathsig when the thread that started
// it ends, whatever becomes of the other threads, and cores are inherited from
// that thread.
type Thread struct {
	work  chan func()
	ended chan struct{} // closed when it has gone
}

// NewThread returns a thread of the system. Close must be called in the end.
func NewThread() *Thread {
	t := &Thread{work: make(chan func()), ended: make(chan struct{})}
	go t.loop()
	return t
}

func (t *Thread) loop() {
	defer close(t.ended)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for f := range t.work {
		f()
	}
}

// Do runs f in the thread and returns when it has ended.
func (t *Thread) Do(f func()) {
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// Close lets the thread go. Nothing may call Do any more.
func (t *Thread) Close() {
	close(t.work)
	<-t.ended
}

// DyingWithParent returns attr for a process that gets signal when the thread that
// starts it ends.
func DyingWithParent(attr syscall.SysProcAttr, signal syscall.Signal) *syscall.SysProcAttr {
	process.DieWithParent(&attr, signal)
	return &attr
}

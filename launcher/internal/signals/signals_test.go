//go:build linux

package signals

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Goal: an interrupt between the end of a job and that of the process does not take the
// place of the job's result. Where it does, this ends the tests.
func TestInterruptAfterTheJob(t *testing.T) {
	Catch().Release()
	t.Cleanup(func() { signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) })
	runtime.LockOSThread() // a signal for one's own thread arrives before the call returns
	defer runtime.UnlockOSThread()
	for sig := range supervise.EndSignals {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()), uintptr(sig)); errno != 0 {
			t.Error(errno)
		}
	}
}

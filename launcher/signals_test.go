package launcher

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Goal: an interrupt between the end of a job and that of the process does not take the
// place of the job's result. Where it does, this ends the tests.
func TestInterruptAfterTheJob(t *testing.T) {
	catchSignals().release()
	t.Cleanup(func() { signal.Reset(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) })
	for sig := range endSignals {
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Error(err)
		}
	}
}

package launcher

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// signals are those that this process gets while it runs a job in the
// foreground. All methods work on nil: a job that gets no signals.
type signals struct {
	ch chan os.Signal
}

// catchSignals begins to catch what concerns a job. A signal that this process
// was started to ignore, as nohup and shells without job control do, stays
// ignored, here and in the ranks.
func catchSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 64)}
	wanted := []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, // end the job
		syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, // are handed on
		syscall.SIGTSTP, syscall.SIGCONT, // suspend and resume it
		syscall.SIGPIPE, // a write to a closed output is then an error, not death
	}
	for _, sig := range wanted {
		if !signal.Ignored(sig) {
			signal.Notify(s.ch, sig)
		}
	}
	return s
}

// release gives the signals back but for those that end a job, which remain caught and
// do nothing: one more interrupt, between the end of the job and that of the process that
// was there for it, must not take the place of the job's result.
func (s *signals) release() {
	ended := make(chan os.Signal, 1)
	for sig := range supervise.EndSignals {
		if !signal.Ignored(sig) {
			signal.Notify(ended, sig)
		}
	}
	signal.Stop(s.ch)
}

// channel is nil, and so never ready, for a job that gets no signals.
func (s *signals) channel() <-chan os.Signal {
	if s == nil {
		return nil
	}
	return s.ch
}

// cancelOnEnd calls cancel when a signal comes that ends the job. The function
// it returns stops that, and says which signal it was, or 0.
func (s *signals) cancelOnEnd(cancel context.CancelFunc) func() syscall.Signal {
	if s == nil {
		return func() syscall.Signal { return 0 }
	}
	var got syscall.Signal
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case sig := <-s.ch:
				switch number := sig.(syscall.Signal); {
				case supervise.EndSignals[number] != "" && got == 0:
					got = number
					cancel()
				case number == syscall.SIGTSTP:
					suspendSelf()
				}
			}
		}
	})
	return func() syscall.Signal {
		close(stop)
		watching.Wait()
		return got
	}
}

// early handles a signal that comes before the ranks are started: its error ends the job.
func (s *signals) early(sig os.Signal) error {
	switch number := sig.(syscall.Signal); {
	case supervise.EndSignals[number] != "":
		return &interruptedError{number}
	case number == syscall.SIGTSTP:
		suspendSelf()
	}
	return nil
}

// suspendSelf stops this process as the terminal's suspend key would have, had
// the signal not been caught. It returns when somebody resumes the process.
func suspendSelf() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// An interruptedError says that a signal came before the ranks were started.
type interruptedError struct{ signal syscall.Signal }

func (e *interruptedError) Error() string {
	return fmt.Sprintf("interrupted by %s before the ranks were started", supervise.EndSignals[e.signal])
}

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
	ch   chan os.Signal
	held []syscall.Signal // for ranks that are not started yet; of whoever reads ch
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

// cancelOnEnd calls cancel when a signal comes that ends the job before its ranks are started.
// The function it returns stops that. Its error says which signal it was.
func (s *signals) cancelOnEnd(cancel context.CancelFunc) func() error {
	if s == nil {
		return func() error { return nil }
	}
	var interrupted error
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case sig := <-s.ch:
				if err := s.early(sig); err != nil && interrupted == nil {
					interrupted = err
					cancel()
				}
			}
		}
	})
	return func() error {
		close(stop)
		watching.Wait()
		return interrupted
	}
}

// early handles a signal that comes before the ranks are started: its error ends the job.
func (s *signals) early(sig os.Signal) error {
	switch number := sig.(syscall.Signal); {
	case endsEarly(number) != "":
		return &interruptedError{number}
	case number == syscall.SIGTSTP:
		suspendSelf()
	case isHandedOn(number):
		s.held = append(s.held, number)
	}
	return nil
}

// pending handles the signals that have come so far, before the ranks are started.
func (s *signals) pending() error {
	for {
		select {
		case sig := <-s.channel():
			if err := s.early(sig); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// takeHeld returns the signals that the ranks have not had yet, and forgets them.
func (s *signals) takeHeld() []syscall.Signal {
	if s == nil {
		return nil
	}
	held := s.held
	s.held = nil
	return held
}

// endsEarly returns the name of a signal that ends the job before its ranks are started, or "".
// SIGQUIT is one: later it is for the ranks alone.
func endsEarly(sig syscall.Signal) string {
	if sig == syscall.SIGQUIT {
		return "SIGQUIT"
	}
	return supervise.EndSignals[sig]
}

// isHandedOn reports whether a signal does nothing but reach the ranks.
func isHandedOn(sig syscall.Signal) bool {
	return sig == syscall.SIGQUIT || sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2
}

// suspendSelf stops this process as the terminal's suspend key would have, had
// the signal not been caught. It returns when somebody resumes the process.
func suspendSelf() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// An interruptedError says that a signal came before the ranks were started.
type interruptedError struct{ signal syscall.Signal }

func (e *interruptedError) Error() string {
	return fmt.Sprintf("interrupted by %s before the ranks were started", endsEarly(e.signal))
}

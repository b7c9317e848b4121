// Package signals has the signals that this process gets while it runs a job in the foreground: which of them
// end a job that has not started, and which are for its ranks.
package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// Caught are the signals that this process gets. All methods work on nil: a job that gets no signals.
type Caught struct {
	ch   chan os.Signal
	held []syscall.Signal // for ranks that are not started yet; of whoever reads ch
}

// Catch begins to catch what concerns a job. A signal that this process
// was started to ignore, as nohup and shells without job control do, stays
// ignored, here and in the ranks.
func Catch() *Caught {
	s := &Caught{ch: make(chan os.Signal, 64)}
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

// Release gives the signals back but for those that end a job, which remain caught and
// do nothing: one more interrupt, between the end of the job and that of the process that
// was there for it, must not take the place of the job's result.
func (s *Caught) Release() {
	ended := make(chan os.Signal, 1)
	for sig := range supervise.EndSignals {
		if !signal.Ignored(sig) {
			signal.Notify(ended, sig)
		}
	}
	signal.Stop(s.ch)
}

// Channel is nil, and so never ready, for a job that gets no signals.
func (s *Caught) Channel() <-chan os.Signal {
	if s == nil {
		return nil
	}
	return s.ch
}

// CancelOnEnd calls cancel when a signal comes that ends the job before its ranks are started.
// The function it returns stops that. Its error says which signal it was.
func (s *Caught) CancelOnEnd(cancel context.CancelFunc) func() error {
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
				if err := s.Early(sig); err != nil && interrupted == nil {
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

// Early handles a signal that comes before the ranks are started: its error ends the job.
func (s *Caught) Early(sig os.Signal) error {
	switch number := sig.(syscall.Signal); {
	case EndsEarly(number) != "":
		return &Interrupted{number}
	case number == syscall.SIGTSTP:
		Suspend()
	default:
		s.Hold(number)
	}
	return nil
}

// Hold keeps a signal for ranks that are not started yet, if it does nothing but reach the ranks.
func (s *Caught) Hold(sig syscall.Signal) {
	if sig == syscall.SIGQUIT || sig == syscall.SIGUSR1 || sig == syscall.SIGUSR2 {
		s.held = append(s.held, sig)
	}
}

// Holding reports whether there are signals that the ranks have not had yet.
func (s *Caught) Holding() bool { return s != nil && len(s.held) > 0 }

// Pending handles the signals that have come so far, before the ranks are started.
func (s *Caught) Pending() error {
	for {
		select {
		case sig := <-s.Channel():
			if err := s.Early(sig); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// TakeHeld returns the signals that the ranks have not had yet, and forgets them.
func (s *Caught) TakeHeld() []syscall.Signal {
	if s == nil {
		return nil
	}
	held := s.held
	s.held = nil
	return held
}

// EndsEarly returns the name of a signal that ends the job before its ranks are started, or "".
// SIGQUIT is one: later it is for the ranks alone.
func EndsEarly(sig syscall.Signal) string {
	if sig == syscall.SIGQUIT {
		return "SIGQUIT"
	}
	return supervise.EndSignals[sig]
}

// Suspend stops this process as the terminal's suspend key would have, had
// the signal not been caught. It returns when somebody resumes the process.
func Suspend() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// An Interrupted is an error that says that a signal came before the ranks were started.
type Interrupted struct{ Signal syscall.Signal }

// Error names the signal.
func (e *Interrupted) Error() string {
	return fmt.Sprintf("interrupted by %s before the ranks were started", EndsEarly(e.Signal))
}

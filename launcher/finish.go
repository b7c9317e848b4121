package launcher

import (
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
	"github.com/gaspi-go/gaspi-go/launcher/internal/signals"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// finish ends what the ranks have left behind and waits for their output.
func (j *job) finish() {
	j.endLeftovers()
	j.settle()
	if err := j.output.Failed(); err != nil {
		j.decide(policy.OutputFailed{Err: err})
	}
	j.output.Close()
	j.closeSites()
}

func (j *job) closeSites() { j.atSites(func(_ int, s site) { s.Close() }) }

// endLeftovers lets all sites finish. A signal that would end the job cuts the
// wait short.
func (j *job) endLeftovers() {
	hurry, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		j.atSites(func(_ int, s site) { s.Finish(hurry) })
	}()
	asked := false
	for {
		select {
		case <-done:
			return
		case sig := <-j.caught.Channel():
			if supervise.EndSignals[sig.(syscall.Signal)] != "" && !asked {
				asked = true
				close(hurry)
			}
		}
	}
}

// settle waits until all output has been passed on. If its reader has stopped reading, settle
// tells the user, and a signal that would end the job cuts the wait short, as does an earlier
// signal after the grace.
func (j *job) settle() {
	var limit <-chan time.Time
	if j.policy.Interrupted() {
		limit = time.After(max(j.cfg.KillGrace, stdio.DrainPatience))
	}
	settleOutput(j.output, j.caught, limit, j.notice, func() { j.decide(policy.NoticeDue{}) })
}

// settleOutput waits until all output has been passed on, limit is over, or a signal that would
// end a job has come. It calls tell once notice is due meanwhile.
func settleOutput(output *stdio.Forwarder, caught *signals.Caught, limit, notice <-chan time.Time, tell func()) {
	done := output.Settled()
	hurry := time.After(stdio.DrainPatience)
	for {
		select {
		case <-done:
			return
		case <-hurry:
			output.Hurry()
		case <-notice:
			tell()
		case <-limit:
			return
		case sig := <-caught.Channel():
			if supervise.EndSignals[sig.(syscall.Signal)] != "" {
				return
			}
		}
	}
}

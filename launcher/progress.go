package launcher

import (
	"fmt"
	"time"
)

const (
	progressDelay   = 3 * time.Second        // before a start that takes long is told
	progressPeriod  = 30 * time.Second       // between two lines
	progressRefresh = 250 * time.Millisecond // of the line on a terminal
)

// startProgress tells the user how many ranks have been started while others have not: in
// lines, or in one that is rewritten where Config.Stderr is a terminal. It belongs to the
// goroutine of the job's loop.
type startProgress struct {
	job *job
	due <-chan time.Time // nil when nothing is to be told any more
}

// begin waits for a start that takes long.
func (p *startProgress) begin(j *job) { p.job, p.due = j, time.After(progressDelay) }

// show tells the number.
func (p *startProgress) show() {
	started := 0
	for _, s := range p.job.sites {
		started += s.Begun()
	}
	text := fmt.Sprintf("started %d of %d ranks", started, p.job.cfg.Ranks)
	if p.job.output.Status(text) {
		p.due = time.After(progressRefresh)
		return
	}
	p.job.output.Interject(func() { p.job.cfg.Notice(text) })
	p.due = time.After(progressPeriod)
}

// end takes the line off the terminal.
func (p *startProgress) end() {
	p.due = nil
	p.job.output.Status("")
}

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
	job  *job
	due  <-chan time.Time // nil when nothing is to be told any more
	line *stream          // on a terminal, once it is shown
}

// begin waits for a start that takes long.
func (p *startProgress) begin(j *job) { p.job, p.due = j, time.After(progressDelay) }

// show tells the number.
func (p *startProgress) show() {
	started := 0
	for _, s := range p.job.sites {
		started += s.begunRanks()
	}
	text := fmt.Sprintf("started %d of %d ranks", started, p.job.cfg.Ranks)
	o := p.job.output
	if o.stderr.width == nil {
		o.interject(func() { p.job.cfg.Notice(text) })
		p.due = time.After(progressPeriod)
		return
	}
	if p.line == nil {
		p.line = &stream{labeller: labeller{live: true}, display: o.stderr, w: p.job.cfg.Stderr, broken: func(error) {}}
	}
	p.line.feed([]byte("\r" + text))
	p.due = time.After(progressRefresh)
}

// end takes the line off the terminal.
func (p *startProgress) end() {
	p.due = nil
	if p.line != nil {
		p.line.display.update(p.line, func(out []byte) []byte {
			p.line.pending = nil
			return out
		})
		p.line = nil
	}
}

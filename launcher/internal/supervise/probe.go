package supervise

import (
	"errors"
	"sync"
)

// A Prober has the kernel of this host measure what processes meet there; see launcher.Prober.
type Prober interface {
	// Add begins with a process.
	Add(pid int) error
	// Read returns what was measured of a process that was added, which may have ended, in a form
	// that only its readers know.
	Read(pid int) ([]byte, error)
	// Close ends the measuring.
	Close()
}

// A KernelReport is what the kernel of a host has measured of the ranks there. Agents send it to the launcher.
type KernelReport struct {
	Missing string   // what it takes to measure; empty if all is there
	Ranks   [][]byte // as Prober.Read returns them; nil of one that is not known
}

// A probe has the kernel of this host measure Ranks. The zero value measures nothing.
type probe struct {
	prober  Prober
	missing string // why there is none, although one was wanted

	mu  sync.Mutex
	bad error // guarded by mu; the first of Prober.Add
}

// errNoProbe is missing where this program has no prober.
var errNoProbe = errors.New("this program has none of its own for the kernel")

// openProbe begins, if the task measures. It does not fail: missing says what is not there.
func openProbe(t Task) *probe {
	p := &probe{}
	if !t.Measure {
		return p
	}
	err := errNoProbe
	if t.Probe != nil {
		p.prober, err = t.Probe()
	}
	if err != nil {
		p.prober, p.missing = nil, err.Error()
	}
	return p
}

// add begins with the process of a rank.
func (p *probe) add(pid int) {
	if p.prober == nil {
		return
	}
	if err := p.prober.Add(pid); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.bad = errors.Join(p.bad, err)
	}
}

// report returns what was measured of some processes; 0 stands for one that is not there.
func (p *probe) report(pids []int) KernelReport {
	r := KernelReport{Missing: p.missing, Ranks: make([][]byte, len(pids))}
	if p.prober == nil {
		return r
	}
	p.mu.Lock()
	err := p.bad
	p.mu.Unlock()
	for i, pid := range pids {
		if pid == 0 {
			continue
		}
		times, readErr := p.prober.Read(pid)
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		r.Ranks[i] = times
	}
	if err != nil {
		r.Missing = err.Error()
	}
	return r
}

// close ends the measuring.
func (p *probe) close() {
	if p.prober != nil {
		p.prober.Close()
	}
}

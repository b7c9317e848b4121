package launcher

import (
	"errors"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A Prober has the kernel of this host measure what processes meet there. It is safe for concurrent use.
type Prober interface {
	// Add begins with a process.
	Add(pid int) error
	// Read returns what was measured of a process that was added, which may have ended.
	Read(pid int) (KernelTimes, error)
	// Close ends the measuring.
	Close()
}

// A KernelTimes is what a kernel has measured of a rank. Element n of a histogram counts times from 2^n ns to
// less than 2^(n+1) ns; the last one also all that are longer.
type KernelTimes struct {
	Run    []uint64 `json:"run"`    // from being able to run to running, of all threads
	Wake   []uint64 `json:"wake"`   // from the arrival of data to running of the thread that it has woken
	Resent uint64   `json:"resent"` // segments sent again
	// Resends are the first of these.
	Resends []Resend `json:"resends,omitempty"`
}

// A Resend is a segment that was sent again.
type Resend struct {
	At   time.Time `json:"at"`   // by the clock of the rank's host
	Port uint16    `json:"port"` // of the rank's side of the connection
}

// A kernelWatch has the kernel of this host measure the ranks here. The zero value measures nothing.
type kernelWatch struct {
	prober  Prober
	missing string // why there is none, although one was wanted

	mu  sync.Mutex
	bad error // guarded by mu; the first of Prober.Add
}

// errNoProbe is missing where this program has no prober.
var errNoProbe = errors.New("this program has none of its own for the kernel")

// open begins, if open is wanted. It does not fail: missing says what is not there.
func (k *kernelWatch) open(wanted bool, open func() (Prober, error)) {
	if !wanted {
		return
	}
	err := errNoProbe
	if open != nil {
		k.prober, err = open()
	}
	if err != nil {
		k.prober, k.missing = nil, err.Error()
	}
}

// began is supervise.Task.Began.
func (k *kernelWatch) began(pid int) {
	if k.prober == nil {
		return
	}
	if err := k.prober.Add(pid); err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.bad = errors.Join(k.bad, err)
	}
}

// A kernelReport is what the kernel of a host has measured of the ranks there.
type kernelReport struct {
	Missing string        // what it takes to measure; empty if all is there
	Ranks   []KernelTimes // the zero value of one that is not known
}

// report returns what was measured of the ranks here.
func (k *kernelWatch) report(ranks *supervise.Ranks) kernelReport {
	pids := ranks.PIDs()
	r := kernelReport{Missing: k.missing, Ranks: make([]KernelTimes, len(pids))}
	if k.prober == nil {
		return r
	}
	k.mu.Lock()
	err := k.bad
	k.mu.Unlock()
	for i, pid := range pids {
		if pid == 0 {
			continue
		}
		times, readErr := k.prober.Read(pid)
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
func (k *kernelWatch) close() {
	if k.prober != nil {
		k.prober.Close()
	}
}

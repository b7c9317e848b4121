package auth

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// Strangers may knock as often as they like; the log gets at most burst lines
// in each period, and then how many it did not get.
const (
	burst  = 10
	period = 10 * time.Second
)

// A limitedLog prints lines, but not all of many.
type limitedLog struct {
	print func(string) // nil: nothing is printed

	mu    sync.Mutex
	since time.Time // when the period began
	lines int       // in this period
	left  int       // lines not printed in this period
}

func (l *limitedLog) line(text string) {
	if l.print == nil {
		return
	}
	l.mu.Lock()
	now := time.Now()
	missed := 0
	if now.Sub(l.since) > period {
		missed = l.left
		l.since, l.lines, l.left = now, 0, 0
	}
	l.lines++
	quiet := l.lines > burst
	if quiet {
		l.left++
	}
	l.mu.Unlock()
	if missed > 0 {
		l.print(fmt.Sprintf("and %d more refusals that are not shown", missed))
	}
	if !quiet {
		l.print(text)
	}
}

// isPassing reports whether accepting may work again later.
func isPassing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EINTR)
}

package testenv

import (
	"strings"
	"sync"
)

// A Lines holds what goroutines have said. The zero value is empty.
type Lines struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

// Add takes a line.
func (l *Lines) Add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

// Have reports whether a line has a part.
func (l *Lines) Have(part string) bool { return strings.Contains(l.String(), part) }

// String returns all lines.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

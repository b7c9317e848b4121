package bootstrap

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
)

// A lastLine passes on lines and keeps the last one that says something.
type lastLine struct {
	tell func(string)

	mu      sync.Mutex
	pending []byte
	last    string
}

// maxLastLine bounds what is kept of a line, in bytes.
const maxLastLine = 4096

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.pending = append(l.pending, line[:min(len(line), maxLastLine-len(l.pending))]...)
		if whole {
			l.endLocked()
		}
		rest = after
	}
	return len(p), nil
}

// printable keeps what a terminal shows of what a host says that has not proven yet to be the right one.
func printable(r rune) rune {
	if unicode.IsPrint(r) || r == '\t' {
		return r
	}
	return '?'
}

func (l *lastLine) endLocked() {
	if text := strings.Map(printable, strings.TrimSpace(strings.ToValidUTF8(string(l.pending), "?"))); text != "" {
		l.last = text
		l.tell(text)
	}
	l.pending = l.pending[:0]
}

// String is the last line, also if its end has not come.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > 0 {
		l.endLocked()
	}
	return l.last
}

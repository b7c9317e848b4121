package system

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// An output takes what a job prints, with the time at which each line was whole.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer // guarded by mu
	lines []line       // guarded by mu
	rest  string       // guarded by mu; the line that is not whole

	over chan struct{} // closed when nothing comes any more
}

type line struct {
	text string
	at   time.Time
}

// Write never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	o.rest += string(p)
	for {
		text, rest, found := strings.Cut(o.rest, "\n")
		if !found {
			return len(p), nil
		}
		o.lines, o.rest = append(o.lines, line{text, time.Now()}), rest
	}
}

// String is everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// complaints is everything so far but the lines that only say that something takes long.
func (o *output) complaints() string { return testenv.Complaints(o.String()) }

// sentences returns how many lines of complaints match.
func (o *output) sentences(pattern string) int {
	return len(regexp.MustCompile("(?m)"+pattern).FindAllString(o.complaints(), -1))
}

// find returns the lines that match, so far.
func (o *output) find(pattern string) []line {
	o.mu.Lock()
	defer o.mu.Unlock()
	match := regexp.MustCompile(pattern)
	var found []line
	for _, l := range o.lines {
		if match.MatchString(l.text) {
			found = append(found, l)
		}
	}
	return found
}

// await returns the first n lines that match, as soon as there are as many, or an error if
// the job ends before.
func (o *output) await(ctx context.Context, n int, pattern string) ([]line, error) {
	for over := false; ; {
		if found := o.find(pattern); len(found) >= n {
			return found[:n], nil
		} else if over {
			return nil, fmt.Errorf("the job has ended with %d lines of %d like %s", len(found), n, pattern)
		}
		select {
		case <-o.over:
			over = true
		case <-ctx.Done():
			return nil, fmt.Errorf("%d lines of %d like %s: %w", len(o.find(pattern)), n, pattern, ctx.Err())
		case <-time.After(5 * time.Millisecond): // a few times a line is printed
		}
	}
}

package main

import (
	"regexp"
	"slices"
	"strings"
)

// most is the number of lines that are said again of a failure, and as many of its panic.
const most = 12

var (
	// panics matches the line that begins a report of the runtime or the race detector.
	panics = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE)`)

	// place matches the beginning of a message of a test.
	place = regexp.MustCompile(`^ +\S+\.go:\d+: ?`)
)

// An excerpt is a part of the output of a test, a package or a build: its first lines, those
// from its first panic on, and its last message.
type excerpt struct {
	first   []string
	crash   []string
	message []string
	part    string // the beginning of a line
}

// add goes on with the output, which may end within a line.
func (e *excerpt) add(text string) {
	lines := strings.Split(e.part+text, "\n")
	e.part = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		e.addLine(line)
	}
}

func (e *excerpt) addLine(line string) {
	switch begin := place.FindString(line); {
	case begin != "":
		e.message = []string{line[len(begin):]}
	case len(e.message) > 0 && len(e.message) < most && strings.HasPrefix(line, "        "):
		e.message = append(e.message, strings.TrimSpace(line))
	}
	crashed := len(e.crash) > 0 || panics.MatchString(line)
	switch {
	case crashed && len(e.crash) < most:
		e.crash = append(e.crash, line)
	case !crashed && len(e.first) < most:
		e.first = append(e.first, line)
	}
}

// lines is the excerpt as it is said again.
func (e *excerpt) lines() []string {
	if e.part != "" {
		e.add("\n")
	}
	return slices.Concat(e.first, e.crash)
}

// reason is the last message in one line, which is why a test was skipped.
func (e *excerpt) reason() string {
	if len(e.message) == 0 {
		return "no reason given"
	}
	return strings.Join(e.message, "; ")
}

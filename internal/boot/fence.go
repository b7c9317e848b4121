package boot

import (
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// maxOpen bounds how many fences of a job can be under way.
const maxOpen = 4096

// A fence is where ranks wait for each other. It is part of the hub and guarded
// by its lock.
type fence struct {
	name    string
	words   []string // index is the rank
	parts   []string // index is the rank
	came    []bool   // index is the rank
	missing int
	since   []time.Time // index is the rank; when it came
}

// come notes that rank r has come to a fence. A fence is forgotten as soon as
// all have come or somebody never will; whoever comes later begins another one.
func (h *hub) come(r base.Rank, name, word, part string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.ahead[name]
	if e == nil && len(h.ahead) == maxOpen {
		return fmt.Errorf("fence %q: %d others are under way, which is the limit", name, maxOpen)
	}
	if e == nil {
		e = &fence{name: name, words: make([]string, h.size), parts: make([]string, h.size), came: make([]bool, h.size), missing: h.size, since: make([]time.Time, h.size)}
		h.ahead[name] = e
	}
	if e.came[r] {
		return fmt.Errorf("rank %d came twice to fence %q", r, name)
	}
	e.words[r], e.parts[r], e.came[r], e.since[r] = word, part, true, time.Now()
	e.missing--
	h.settleFenceLocked(e)
	return nil
}

// waiting returns since when each rank has waited at the fence that somebody has waited at for the longest: the zero
// time of one that does not. It returns nil if nobody waits at any.
func (h *hub) waiting() (since []time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first time.Time
	for _, e := range h.ahead {
		for r, came := range e.came {
			if came && (first.IsZero() || e.since[r].Before(first)) {
				first, since = e.since[r], e.since
			}
		}
	}
	return slices.Clone(since)
}

// settleFenceLocked ends a fence to which all have come, or somebody never will.
func (h *hub) settleFenceLocked(e *fence) {
	if e.missing == 0 {
		h.endFenceLocked(e, message{Kind: kindFenced, Name: e.name, Value: packParts(e.parts), Reason: e.difference()})
		return
	}
	for _, dead := range h.order {
		if !e.came[dead] {
			h.endFenceLocked(e, message{Kind: kindBroken, Name: e.name, Rank: dead, Reason: h.gone[dead].Reason})
			return
		}
	}
}

// endFenceLocked tells those who have come.
func (h *hub) endFenceLocked(e *fence, m message) {
	delete(h.ahead, e.name)
	for r, came := range e.came {
		if came {
			h.tellLocked(base.Rank(r), m)
		}
	}
}

// difference names two ranks whose words differ, or is empty.
func (e *fence) difference() string {
	for r, word := range e.words {
		if word != e.words[0] {
			const room = maxReason/2 - 32 // for each word
			return fmt.Sprintf("rank 0 says %s, rank %d says %s", clip(e.words[0], room), r, clip(word, room))
		}
	}
	return ""
}

// clip quotes s unless it is plain, and shortens it to n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		s = trimText(s[:n]) + "..."
	}
	if s == "" {
		return `""`
	}
	return s
}

package stdio

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"
)

// eraseLine goes to the start of a terminal's line and clears it.
const eraseLine = "\r\x1b[K"

// A display is a place where lines of several streams come together, each line
// whole. On a terminal it also shows, below them, the line that changed last
// and is not finished: a prompt, or progress rewritten with carriage returns.
type display struct {
	width func() int // columns of the terminal; nil when it is none

	mu    sync.Mutex
	owner *labeller // whose unfinished line is shown; nil for none
	shown bool      // it is on the terminal now
	out   []byte    // reused
}

// A stream is one output of one rank on its way to a display.
type stream struct {
	labeller
	display *display
	w       io.Writer
	broken  func(error) // hears about the first write that fails
	dead    bool        // a write has failed; the rest is dropped
}

// Feed shows the next bytes of the stream.
func (s *stream) Feed(p []byte) {
	s.display.update(s, func(out []byte) []byte { return s.labeller.feed(out, p) })
}

// End shows what is left of the stream.
func (s *stream) End() {
	s.display.update(s, s.labeller.flush)
}

// update writes the lines that a stream completes in one piece, so that nothing
// comes between the bytes of a line, and shows its unfinished line after them.
func (d *display) update(s *stream, step func([]byte) []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.eraseLocked(d.out[:0])
	out = step(out)
	if d.width != nil {
		out = d.showLocked(s, out)
	}
	if cap(out) <= 2*maxPiece {
		d.out = out
	}
	if len(out) == 0 || s.dead {
		return
	}
	if _, err := s.w.Write(out); err != nil {
		s.dead = true
		s.broken(err)
	}
}

// eraseLocked takes the unfinished line off the terminal.
func (d *display) eraseLocked(out []byte) []byte {
	if !d.shown {
		return out
	}
	d.shown = false
	return append(out, eraseLine...)
}

// showLocked puts the unfinished line of the stream that changed last there.
func (d *display) showLocked(s *stream, out []byte) []byte {
	if s.status() != nil {
		d.owner = &s.labeller
	}
	if d.owner == nil {
		return out
	}
	line := d.owner.status()
	if line == nil {
		d.owner = nil
		return out
	}
	d.shown = true
	return append(out, fit(line, d.width()-1)...)
}

// interject takes the unfinished line off w, and lets f write.
func (d *display) interject(w io.Writer, f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shown {
		w.Write(d.eraseLocked(nil))
	}
	f()
}

// fit cuts a line to a number of columns, so that it can be erased again.
// Sequences of terminal control are kept and take no room. Unknown room (not
// positive) means that of an ordinary terminal.
func fit(line []byte, columns int) []byte {
	if columns <= 0 {
		columns = 79
	}
	var out []byte
	coloured := false
	for len(line) > 0 {
		if n := controlLength(line); n > 0 {
			out, line, coloured = append(out, line[:n]...), line[n:], true
			continue
		}
		r, n := utf8.DecodeRune(line)
		switch {
		case columns == 0:
		case r == '\t':
			out, columns = append(out, ' '), columns-1
		case r >= ' ' && r != 0x7f:
			out, columns = append(out, line[:n]...), columns-1
		}
		line = line[n:]
	}
	if coloured {
		out = append(out, "\x1b[0m"...)
	}
	return out
}

// controlLength is the length of the control sequence (ESC [ ... letter) that
// line begins with, or 0.
func controlLength(line []byte) int {
	if !bytes.HasPrefix(line, []byte("\x1b[")) {
		return 0
	}
	for i := 2; i < len(line); i++ {
		if line[i] >= '@' && line[i] <= '~' {
			return i + 1
		}
	}
	return len(line)
}

// Status shows text as the last line of the terminal that Stderr is, in place of the text before
// it; an empty text takes the line off. It reports whether there is such a terminal, and does
// nothing without one. It is called from one goroutine.
func (o *Forwarder) Status(text string) bool {
	if o.stderr.width == nil {
		return false
	}
	if text == "" {
		o.endStatus()
		return true
	}
	if o.status == nil {
		o.status = &stream{labeller: labeller{live: true}, display: o.stderr, w: o.to.Stderr, broken: func(error) {}}
	}
	o.status.Feed([]byte("\r" + text))
	return true
}

func (o *Forwarder) endStatus() {
	if o.status == nil {
		return
	}
	o.stderr.update(o.status, o.status.drop)
	o.status = nil
}

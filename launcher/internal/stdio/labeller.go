package stdio

import "bytes"

// maxPiece bounds the part of a line that is held back until its end comes, in
// bytes. A longer line is passed on in pieces of this size.
const maxPiece = 1 << 20

// A labeller turns a stream of bytes into whole lines, each after a label. It
// does no I/O, and what it returns does not depend on how the stream is cut.
type labeller struct {
	label   []byte
	live    bool   // lines are shown on a terminal while they grow
	pending []byte // a line whose end has not come
	text    int    // bytes of pending before the carriage returns at its end
}

// feed takes the next bytes of the stream and appends the lines they complete.
func (l *labeller) feed(out, p []byte) []byte {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part = p[:end]
		}
		out = l.grow(out, part)
		if end < 0 {
			break
		}
		out = l.finish(out)
		p = p[end+1:]
	}
	return out
}

// flush appends the line that is under way although its end has not come.
func (l *labeller) flush(out []byte) []byte {
	if len(l.pending) == 0 {
		return out
	}
	return l.finish(out)
}

// grow adds to the pending line, and appends the pieces that become too long.
func (l *labeller) grow(out, part []byte) []byte {
	for len(l.pending)+len(part) > maxPiece {
		fits := maxPiece - len(l.pending)
		rewound := l.add(part[:fits])
		part = part[fits:]
		if rewound {
			continue
		}
		out = l.finish(out)
	}
	l.add(part)
	return out
}

// add appends a part to the pending line. On a terminal it forgets what a carriage return has
// since overwritten, and reports whether there was any. The last text before a final carriage
// return stays: it is what the terminal shows.
func (l *labeller) add(part []byte) (rewound bool) {
	seen := l.text // on a terminal, no carriage return is before it
	if text := bytes.TrimRight(part, "\r"); len(text) > 0 {
		l.text = len(l.pending) + len(text)
	}
	l.pending = append(l.pending, part...)
	if !l.live {
		return false
	}
	last := bytes.LastIndexByte(l.pending[seen:l.text], '\r')
	if last < 0 {
		return false
	}
	over := seen + last + 1
	l.pending = append(l.pending[:0], l.pending[over:]...)
	l.text -= over
	return true
}

// finish appends the pending line.
func (l *labeller) finish(out []byte) []byte {
	out = append(out, l.label...)
	out = append(out, l.visible()...)
	l.pending, l.text = l.pending[:0], 0
	return append(out, '\n')
}

// drop forgets the line that is under way.
func (l *labeller) drop(out []byte) []byte {
	l.pending, l.text = l.pending[:0], 0
	return out
}

// visible returns the part of the pending line that is to be passed on: all of it, or on a
// terminal the text that carriage returns have left.
func (l *labeller) visible() []byte {
	if !l.live {
		return l.pending
	}
	return l.pending[:l.text]
}

// status is the labelled line that is under way, or nil.
func (l *labeller) status() []byte {
	if len(l.pending) == 0 {
		return nil
	}
	return append(bytes.Clone(l.label), l.visible()...)
}

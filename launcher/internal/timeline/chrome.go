package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// Write writes the timeline in the trace event format of Chrome, which Perfetto opens, too: a process
// for each rank, a thread for each goroutine, arrows from posts to the waits that they ended, and the
// critical path as one more process.
//
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
func (t *Timeline) Write(to io.Writer, path []Leg) error {
	w := &chromeWriter{b: bufio.NewWriterSize(to, 1<<16), origin: t.origin}
	w.text(`{"displayTimeUnit":"ns","otherData":`)
	w.json(map[string]any{"generator": "gaspi-run", "clockErrorNanoseconds": t.slack, "droppedRecords": t.Dropped(), "leftOutRecords": t.Skipped()})
	w.text(`,"traceEvents":[`)
	for _, r := range t.ranks {
		w.rank(r)
	}
	arrows := 0
	for _, r := range t.ranks {
		for _, l := range r.lanes {
			for _, e := range l.joins {
				if by := t.links[e]; by.exact && e.Kind.Class() == trace.Wait && by.by.Begin <= lastNano(e) {
					arrows++
					w.arrow(by.by, e, arrows)
				}
			}
		}
	}
	w.path(len(t.ranks), path)
	w.text("\n]}\n")
	if w.err != nil {
		return w.err
	}
	return w.b.Flush()
}

// Dropped returns how many records there are no more.
func (t *Timeline) Dropped() (n uint64) {
	for _, r := range t.ranks {
		n += r.dropped
	}
	return n
}

// Skipped returns how many records of short things were left out.
func (t *Timeline) Skipped() (n uint64) {
	for _, r := range t.ranks {
		n += r.skipped
	}
	return n
}

// Events returns how many there are.
func (t *Timeline) Events() (n int) {
	for _, r := range t.ranks {
		n += len(r.beside)
		for _, l := range r.lanes {
			n += len(l.events)
		}
	}
	return n
}

// A chromeWriter writes elements of an array.
type chromeWriter struct {
	b      *bufio.Writer
	origin int64
	any    bool // the array has an element
	line   []byte
	err    error
}

func (w *chromeWriter) text(s string) {
	if w.err == nil {
		_, w.err = w.b.WriteString(s)
	}
}

func (w *chromeWriter) json(v any) {
	text, err := json.Marshal(v)
	if w.err == nil {
		w.err = err
	}
	w.text(string(text))
}

// element writes what line holds.
func (w *chromeWriter) element() {
	if w.any {
		w.text(",")
	}
	w.any = true
	w.text("\n")
	w.text(string(w.line))
}

// begin begins an element: its phase, process, thread and name.
func (w *chromeWriter) begin(phase string, pid, tid int, name string) {
	w.line = fmt.Appendf(w.line[:0], `{"ph":%q,"pid":%d,"tid":%d,"name":`, phase, pid, tid)
	text, err := json.Marshal(name)
	if w.err == nil {
		w.err = err
	}
	w.line = append(w.line, text...)
}

// time adds a time, or a duration, in microseconds.
func (w *chromeWriter) time(key string, nanos int64) {
	w.line = fmt.Appendf(w.line, `,%q:`, key)
	w.line = strconv.AppendInt(w.line, nanos/1000, 10)
	w.line = fmt.Appendf(w.line, ".%03d", nanos%1000)
}

func (w *chromeWriter) end(more string) {
	w.line = append(append(w.line, more...), '}')
	w.element()
}

// meta writes a name, or a place in the order of processes.
func (w *chromeWriter) meta(what string, pid, tid int, args string) {
	w.begin("M", pid, tid, what)
	w.end(`,"args":{` + args + `}`)
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // of a string it has no error
	return string(text)
}

func (w *chromeWriter) rank(r *rankEvents) {
	title := fmt.Sprintf("rank %d on %s", r.number, r.host)
	if r.dropped > 0 {
		title += fmt.Sprintf(", without its first %d records", r.dropped)
	}
	w.process(r.number, title)
	for _, l := range r.lanes {
		w.meta("thread_name", r.number, l.number, `"name":`+quoted(fmt.Sprintf("goroutine %d", l.number)))
		for i, e := range l.events {
			next := int64(1<<63 - 1)
			if i+1 < len(l.events) {
				next = l.events[i+1].Begin
			}
			w.event(e, next)
		}
	}
	for i, e := range r.beside {
		w.beside("b", e, i, e.Begin)
		w.beside("e", e, i, e.End)
	}
}

// beside writes the begin or the end of what no goroutine did alone.
func (w *chromeWriter) beside(phase string, e *slice, number int, at int64) {
	pid := e.lane.rank.number
	w.begin(phase, pid, 0, e.text())
	w.time("ts", at-w.origin)
	w.end(fmt.Sprintf(`,"cat":"operation","id":"%d.%d"`, pid, number))
}

func (w *chromeWriter) process(pid int, title string) {
	w.meta("process_name", pid, 0, `"name":`+quoted(title))
	w.meta("process_sort_index", pid, 0, fmt.Sprintf(`"sort_index":%d`, pid))
}

// lastNano is when an event was not over yet: viewers bind an arrow to what is there at its time.
func lastNano(e *slice) int64 { return max(e.Begin, e.End-1) }

// event writes an event. One of no length has a nanosecond, if the next leaves it, so that it is there
// for arrows.
func (w *chromeWriter) event(e *slice, next int64) {
	w.begin("X", e.lane.rank.number, e.lane.number, e.text())
	w.time("ts", e.Begin-w.origin)
	w.time("dur", max(e.End-e.Begin, min(1, next-e.Begin)))
	w.line = fmt.Appendf(w.line, `,"cat":%q,"args":{`, categories[e.Kind.Class()])
	comma := false
	arg := func(key string, value any) {
		if comma {
			w.line = append(w.line, ',')
		}
		comma = true
		w.line = fmt.Appendf(w.line, "%q:%v", key, value)
	}
	if e.hasPeer() {
		arg("peer", e.Peer)
	}
	if e.Bytes > 0 {
		arg("bytes", e.Bytes)
	}
	if e.Count > 0 {
		arg("segment", e.Segment)
		arg("notification", e.Note)
	}
	if e.Count > 1 {
		arg("notifications", e.Count)
	}
	if e.Value > 0 {
		arg("value", e.Value)
	}
	w.end("}")
}

var categories = map[trace.Class]string{trace.Other: "call", trace.Post: "post", trace.Wait: "wait", trace.Meeting: "collective"}

// hasPeer reports whether the peer of a record means something.
func (e *slice) hasPeer() bool {
	switch e.Kind {
	case trace.Write, trace.Read, trace.ReadNotify, trace.ReadList, trace.Flush, trace.Atomic, trace.PassiveReceive:
		return true
	}
	return e.Kind.Class() == trace.Post
}

// arrow writes an arrow from a post to a wait.
func (w *chromeWriter) arrow(from, to *slice, id int) {
	w.begin("s", from.lane.rank.number, from.lane.number, "post")
	w.time("ts", from.Begin-w.origin)
	w.end(fmt.Sprintf(`,"cat":"post","id":%d`, id))
	w.begin("f", to.lane.rank.number, to.lane.number, "post")
	w.time("ts", lastNano(to)-w.origin)
	w.end(fmt.Sprintf(`,"cat":"post","id":%d,"bp":"e"`, id))
}

func (w *chromeWriter) path(pid int, path []Leg) {
	if len(path) == 0 {
		return
	}
	w.process(pid, "critical path")
	for _, s := range path {
		w.begin("X", pid, 1, fmt.Sprintf("rank %d: %s", s.Rank, s.Call))
		w.time("ts", s.From)
		w.time("dur", s.To-s.From)
		w.end(fmt.Sprintf(`,"cat":"path","args":{"rank":%d}`, s.Rank))
	}
}

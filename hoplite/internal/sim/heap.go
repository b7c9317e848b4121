package sim

import "github.com/gaspi-go/gaspi-go/hoplite/internal/core"

// An eventKind says what happens in an event.
type eventKind uint8

const (
	deliver eventKind = iota // a message arrives
	land                     // a put's bytes and its watermark arrive
	see                      // the receiver sees the watermark
	sent                     // a sender learns that a put has landed
	fill                     // a program copies a part of its object into the store
	act                      // a program calls
	let                      // a program releases a reference
	copyOn                   // a program copies what it follows
	die                      // a rank dies
	notice                   // a rank learns of a death
)

// An event is something that happens at a rank.
type event struct {
	at     int64 // nanoseconds
	seq    uint64
	kind   eventKind
	rank   core.Rank // where it happens
	from   core.Rank
	msg    core.Message
	cmd    core.Command
	hold   hold
	follow *follower // of copyOn
	client int       // of act
}

// reuse empties an event whose bytes nobody reads any more.
func (e *event) reuse() {
	data := e.cmd.Data[:0]
	*e = event{}
	e.cmd.Data = data
}

// before orders events; those of one moment happen in the order of their making.
func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// A heap is a binary heap of events, the next one first.
type heap []*event

func (h *heap) push(e *event) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].before(s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

func (h *heap) pop() *event {
	s := *h
	top := s[0]
	n := len(s) - 1
	s[0] = s[n]
	s[n] = nil
	*h = s[:n]
	h.down(0)
	return top
}

func (h *heap) down(i int) {
	s := *h
	for {
		k := 2*i + 1
		if k >= len(s) {
			return
		}
		if k+1 < len(s) && s[k+1].before(s[k]) {
			k++
		}
		if !s[k].before(s[i]) {
			return
		}
		s[i], s[k] = s[k], s[i]
		i = k
	}
}

// filter keeps the events that keep says.
func (h *heap) filter(keep func(*event) bool) {
	s := (*h)[:0]
	for _, e := range *h {
		if keep(e) {
			s = append(s, e)
		}
	}
	clear((*h)[len(s):])
	*h = s
	for i := len(s)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

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

// Before orders events; those of one moment happen in the order of their making.
func (e *event) Before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

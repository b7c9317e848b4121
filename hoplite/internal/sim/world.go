package sim

import (
	"bytes"
	"fmt"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/internal/heap"
)

// A world is a job: its cores, their memory, and what is under way.
type world struct {
	cfg    core.Config
	cores  []*core.Core
	memory [][]byte
	dead   []bool
	now    int64
	seq    uint64
	queue  heap.Heap[*event]
	spent  []*event // events that have happened, to be used again
	out    core.Output
	pulled []string // of drain
	steps  int
	err    error
	links  links
	user   user
	trace  func(string)
}

// links say when what is sent arrives.
type links interface {
	// message returns when a message that is sent now arrives.
	message(w *world, from, to core.Rank, m *core.Message) int64
	// put returns when the bytes of a put have landed, and when its sender knows.
	put(w *world, from core.Rank, cmd *core.Command) (landed, known int64)
	// read returns when a rank reports what it reads now.
	read(w *world) int64
	// look returns when a rank sees a watermark that lands now.
	look(w *world) int64
}

// A user is the programs of all ranks.
type user interface {
	result(w *world, r core.Rank, res core.CallResult)
	fill(w *world, r core.Rank, cmd core.Command)
	event(w *world, e *event)
	// turned is told when a rank has done what its core wanted; pulled are the objects that
	// it has begun to fetch.
	turned(w *world, r core.Rank, pulled []string)
}

// newWorld makes a job whose programs have not begun. Ranks of one host can read the stores of each
// other; without hosts none can.
func newWorld(cfg core.Config, hosts []int, l links, u user) *world {
	w := &world{cfg: cfg, dead: make([]bool, cfg.Size), links: l, user: u}
	for r := range cfg.Size {
		cfg.Rank = core.Rank(r)
		if hosts != nil {
			cfg.Near = make([]bool, cfg.Size)
			for k := range cfg.Near {
				cfg.Near[k] = hosts[k] == hosts[r]
			}
		}
		w.cores = append(w.cores, core.New(cfg))
		w.memory = append(w.memory, make([]byte, cfg.Capacity))
	}
	return w
}

func (w *world) failf(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("step %d: "+format, append([]any{w.steps}, args...)...)
	}
}

func (w *world) tracef(format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%5d %9d ", w.steps, w.now) + fmt.Sprintf(format, args...))
	}
}

// at adds an event to fill in.
func (w *world) at(t int64, k eventKind, r core.Rank) *event {
	var e *event
	if n := len(w.spent); n > 0 {
		e, w.spent = w.spent[n-1], w.spent[:n-1]
	} else {
		e = new(event)
	}
	w.seq++
	e.at, e.seq, e.kind, e.rank = max(t, w.now), w.seq, k, r
	w.queue.Push(e)
	return e
}

// step lets the next thing happen and reports whether there was one.
func (w *world) step() bool {
	if len(w.queue) == 0 || w.err != nil {
		return false
	}
	e := w.queue.Pop()
	w.now = e.at
	w.steps++
	if !w.dead[e.rank] {
		w.happen(e)
	}
	e.reuse()
	w.spent = append(w.spent, e)
	return true
}

func (w *world) happen(e *event) {
	c := w.cores[e.rank]
	switch e.kind {
	case deliver:
		if w.trace != nil {
			w.tracef("%d <- %d %s", e.rank, e.from, describe(&e.msg))
		}
		c.Receive(e.from, e.msg)
	case land:
		w.land(e)
	case see:
		w.see(e)
	case sent:
		c.Sent(e.cmd.Transfer)
	case notice:
		w.tracef("%d learns that %d is dead", e.rank, e.from)
		c.Down(e.from)
	default:
		w.user.event(w, e)
	}
	if !w.dead[e.rank] {
		w.drain(e.rank)
	}
}

// land lets a put arrive. The word of the slot may meanwhile belong to another object
// only if the protocol is wrong: then the bytes show it.
func (w *world) land(e *event) {
	cmd := &e.cmd
	if src := w.memory[e.from][cmd.Src:]; !w.dead[e.from] && !bytes.Equal(src[:cmd.Len], cmd.Data) {
		w.failf("rank %d changed [%d:+%d) of its store while it was being put", e.from, cmd.Src, cmd.Len)
	}
	copy(w.memory[e.rank][cmd.Off:cmd.Off+cmd.Len], cmd.Data)
	if cmd.Watermark == 0 {
		return // a dying rank's last bytes, of which nobody is told
	}
	if !w.cores[e.rank].Expects(cmd.Slot, cmd.Seq) {
		w.failf("rank %d put [%d:+%d) into slot %d of rank %d, which is not receiving that", e.from, cmd.Off, cmd.Len, cmd.Slot, e.rank)
		return
	}
	if t := w.links.look(w); t > w.now {
		later := w.at(t, see, e.rank)
		later.from, later.cmd = e.from, core.Command{Slot: cmd.Slot, Seq: cmd.Seq, Watermark: cmd.Watermark}
		return
	}
	w.see(e)
}

// see lets a rank look at the word of a slot. It may by then be about another transfer.
func (w *world) see(e *event) {
	if w.cores[e.rank].Expects(e.cmd.Slot, e.cmd.Seq) {
		w.tracef("%d has up to %d in slot %d from %d", e.rank, e.cmd.Watermark, e.cmd.Slot, e.from)
		w.cores[e.rank].Arrived(e.cmd.Slot, e.cmd.Watermark)
	}
}

// drain does what a core wants.
func (w *world) drain(r core.Rank) {
	w.cores[r].Drain(&w.out)
	mem := w.memory[r]
	for _, cmd := range w.out.Commands {
		dst := mem[min(cmd.Off, int64(len(mem))):]
		switch cmd.Op {
		case core.OpFill:
			w.user.fill(w, r, cmd)
		case core.OpPut:
			landed, known := w.links.put(w, r, &cmd)
			e := w.at(landed, land, cmd.Peer)
			cmd.Data = append(e.cmd.Data, mem[cmd.Src:cmd.Src+cmd.Len]...)
			e.from, e.cmd = r, cmd
			e = w.at(known, sent, r)
			e.from, e.cmd.Transfer = cmd.Peer, cmd.Transfer
		case core.OpTell:
			e := w.at(w.now, land, cmd.Peer) // it is in memory that both ranks share
			e.from, e.cmd = r, cmd
		case core.OpFold:
			dst := w.memory[cmd.Peer][cmd.Off:]
			for k, from := range cmd.From {
				src := w.memory[from.Rank][from.Off:][:cmd.Len]
				if k == 0 {
					copy(dst, src)
					continue
				}
				for i, b := range src {
					dst[i] += b
				}
			}
			if cmd.Twice {
				copy(w.memory[cmd.Also.Rank][cmd.Also.Off:], dst[:cmd.Len])
			}
		case core.OpCopy:
			copy(dst, w.memory[cmd.Peer][cmd.Src:][:cmd.Len])
		case core.OpReport:
			w.at(w.links.read(w), sent, r).cmd.Transfer = cmd.Transfer
		case core.OpFoldData:
			for i, b := range cmd.Data {
				dst[i] += b
			}
		case core.OpStore:
			copy(dst, cmd.Data)
		}
	}
	w.pulled = w.pulled[:0]
	for i := range w.out.Sends {
		s := &w.out.Sends[i]
		if s.Msg.Kind() == core.KindPull && s.Msg.ID != "" {
			w.pulled = append(w.pulled, s.Msg.ID)
		}
		if s.Attach {
			s.Msg.Payload = append([]byte(nil), mem[s.Off:s.Off+s.Len]...)
		}
		e := w.at(w.links.message(w, r, s.To, &s.Msg), deliver, s.To)
		e.from, e.msg = r, s.Msg
	}
	for _, res := range w.out.Results {
		w.user.result(w, r, res)
	}
	w.user.turned(w, r, w.pulled)
}

package executor

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot: between a call and its first post lies the walk through a few instructions.
// Nothing allocates, and nothing calls the system unless the rank sleeps.

// An Execution is a run of an Executable, or one that has ended and whose memory waits for the
// next.
type Execution struct {
	member   *Member
	of       *Executable
	number   uint32            // of this run among those of the executable
	stamp    gaspi.Value       // by which eager slots are posted in this run
	before   gaspi.Value       // that of the last run that used the same copy
	next     []int             // instruction of each lane
	copies   [rotations]uint32 // which copy of the memory of each sort this run uses
	shifts   [rotations]uint64 // and how many bytes behind copy 0 that is
	sources  []gaspi.Span      // of the executable
	operands [][]byte
	kernel   reduce.Kernel

	stretch stretch // of the last walk in the timeline
	large   bool    // hasLarge, where there is a timeline
}

// Prepare makes the memory of runs of x, which is not copied.
func (e *Execution) Prepare(m *Member, x *Executable) {
	*e = Execution{
		member: m, of: x, next: make([]int, len(x.lanes)), operands: append([][]byte(nil), x.operands...), sources: x.sources,
	}
	e.large = m.Timeline != nil && e.hasLarge()
}

// Bind takes the caller's buffers until Release, and the program's operation if it has one.
func (e *Execution) Bind(in, out []byte, extra [][]byte, own reduce.Kernel) {
	e.operands[memIn], e.operands[memOut] = in, out
	for i, b := range extra {
		e.BindExtra(i, b)
	}
	if e.kernel = own; own == nil {
		e.kernel = e.of.folds.Two
	}
}

// BindExtra takes the caller's further buffer of that number, as Bind does.
func (e *Execution) BindExtra(i int, mem []byte) { e.operands[memExtra+i] = mem }

// Buffers returns the two buffers of the caller.
func (e *Execution) Buffers() (in, out []byte) { return e.operands[memIn], e.operands[memOut] }

// Others returns the further buffers of the caller, those of BindExtra.
func (e *Execution) Others() [][]byte { return e.operands[min(memExtra, e.of.buffers):e.of.buffers] }

// Results returns the buffers of the caller that hold results, none of the zero Executable.
func (e *Execution) Results() [][]byte { return e.operands[min(memOut, e.of.buffers):e.of.buffers] }

// Release gives the buffers back to the caller.
func (e *Execution) Release() {
	e.kernel = nil
	clear(e.operands[:e.of.buffers])
}

// Begin begins a run, for Advance to go on with. All members begin the runs of a schedule in the
// same order, which number them alike. The number of the call is that of the run among those of all
// executables of the member: what is sent through eager memory carries it, and it is the same at all
// members if they make the same calls.
func (e *Execution) Begin(call uint64) {
	e.begin(call)
	clear(e.next)
}

func (e *Execution) begin(call uint64) {
	x := e.of
	e.number = x.runs
	x.runs++
	e.copies[flipped], e.shifts[flipped] = e.number&1, uint64(e.number&1)*x.turns[flipped].stride
	if len(x.stamps) > 0 {
		e.copies[eager], e.shifts[eager] = e.number&x.copies, x.turns[eager].at(e.number)
		last := &x.stamps[e.number&x.copies]
		e.before, e.stamp = *last, posts.Value(uint32(call))
		*last = e.stamp
	}
}

// Run begins a run of a single lane and blocks until it has ended, for the patience of the member at
// most where it waits for a peer. When an error ends it before, Advance goes on. See Begin.
func (e *Execution) Run(ctx context.Context, call uint64) error {
	e.begin(call)
	return e.walk(ctx, 0, 0, true)
}

// Advance does what can be done without waiting for a peer, or while nobody wants the member, and
// reports whether that was anything and whether the run has ended. It blocks while the queue is full, and at the end until sources are
// free. After an error it goes on where that came.
func (e *Execution) Advance(ctx context.Context) (moved, ended bool, err error) {
	ended = true
	for i, before := range e.next {
		if err := e.walk(ctx, i, before, false); err != nil {
			return true, false, err
		}
		moved = moved || e.next[i] != before
		ended = ended && e.next[i] == len(e.of.lanes[i])
	}
	if !ended {
		return moved, false, nil
	}
	if e.of.puts {
		err = e.member.WaitQueue(ctx)
	}
	return true, err == nil, err
}

// walk goes through a lane from the instruction at on. Where the next one must wait for a peer it
// blocks or returns; if it blocks, it does so at the end until sources are free too. It leaves in next
// where it has come to, also when a function of the program panics.
func (e *Execution) walk(ctx context.Context, lane, at int, block bool) error {
	m, code, from := e.member, e.of.lanes[lane], at
	e.beginStretch(block)
	for ; at < len(code); at++ {
		in, first := &code[at], at
		var err error
		switch in.kind {
		case schedule.Put, schedule.Signal:
			switch {
			case !in.joint || in.coded:
				err = e.put(in)
			case in.line:
				err = m.Queue.WriteNotifyLine(e.target(in), e.source(in), e.notification(in))
			case in.inline:
				err = e.putInline(in)
			default:
				err = m.Queue.WriteNotifyIn(e.target(in), e.source(in), e.of.board, e.notification(in))
			}
			if err != nil {
				err = e.insist(ctx, in, err)
			}
		case schedule.Await:
			if block {
				at, err = e.await(ctx, code, from, at)
				break
			}
			if m.wanted() || !e.arrived(in) {
				e.next[lane] = at
				return nil
			}
			err = e.checkAll(code[at : at+1])
		case schedule.AwaitCredit:
			switch {
			case !e.waits(in) || e.arrived(in):
			case !block:
				e.next[lane] = at
				return nil
			default:
				if e.reach(code[from:at]); !e.quick(code[at : at+1]) {
					err = e.waitFor(m.Nap(ctx), in)
				}
			}
		case schedule.Credit:
			if e.credits() {
				err = e.credit(ctx, in)
			}
		case schedule.Combine:
			e.next[lane] = at
			m.folds.fold(e, in)
		case schedule.Flush:
			err = m.WaitQueue(ctx)
		default:
			err = e.code(in)
		}
		if e.stretch.kept {
			e.record(code[first:at+1], err == nil)
		}
		if err != nil {
			e.next[lane] = at
			return err
		}
	}
	e.next[lane] = at
	e.reach(code[from:])
	if block && e.of.puts {
		e.stretch.ended = 0
		return m.WaitQueue(ctx)
	}
	return nil
}

// notification returns the notification that an instruction posts or waits for.
func (e *Execution) notification(in *instruction) gaspi.Notification {
	if in.eager {
		return gaspi.Notification{ID: in.note + e.of.copyNote(e.number&e.of.copies), Value: e.stamp}
	}
	return gaspi.Notification{ID: in.note, Value: posts.Value(e.number*in.per + in.nth)}
}

// target returns where a put writes to in this run.
func (e *Execution) target(in *instruction) gaspi.Remote {
	return gaspi.Remote{Rank: gaspi.Rank(in.peer), Segment: in.segment, Offset: in.offset + e.shifts[in.to%rotations]}
}

// posting returns where a post is made: at the peer, in the control segment.
func (e *Execution) posting(in *instruction) gaspi.Remote {
	return gaspi.Remote{Rank: gaspi.Rank(in.peer), Segment: e.of.board}
}

// source returns what a put reads in this run.
func (e *Execution) source(in *instruction) gaspi.Span {
	return e.sources[uint32(in.at)+e.copies[in.from%rotations]]
}

// put does a put or a signal.
func (e *Execution) put(in *instruction) error {
	q, n := e.member.Queue, e.notification(in)
	if in.kind != schedule.Put {
		return q.Notify(e.posting(in), n)
	}
	src := e.source(in)
	if in.coded {
		used, err := form(src)
		if err != nil {
			return err
		}
		src = used
	}
	switch {
	case in.joint && (in.line || in.inline):
		return q.WriteNotifyLine(e.target(in), src, n)
	case in.joint:
		return q.WriteNotifyIn(e.target(in), src, e.of.board, n)
	}
	err := q.Write(e.target(in), src)
	if err == nil && in.posts {
		err = q.Notify(e.posting(in), n)
	}
	return err
}

// putInline does a put of data in a buffer of the caller, which it copies where the queue cannot write at once.
func (e *Execution) putInline(in *instruction) error {
	to, data, n := e.target(in), e.bytes(&e.of.inlined), e.notification(in)
	if e.member.Queue.TryWriteNotifyLine(to, data, n) {
		return nil
	}
	src := e.source(in)
	segment.Copy(src.Bytes(), data)
	return e.member.Queue.WriteNotifyLine(to, src, n)
}

// insist does a put or a signal that the queue was too full for, which err says, and returns why it
// failed otherwise.
func (e *Execution) insist(ctx context.Context, in *instruction, err error) error {
	for err == gaspi.ErrQueueFull {
		if err := e.member.WaitQueue(ctx); err != nil {
			return err
		}
		err = e.put(in)
	}
	return e.member.Unneeded(err)
}

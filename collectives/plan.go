package collectives

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/logging"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A Plan is a call that was prepared: an algorithm chosen, its schedule bound to
// buffers, scratch and notifications. Running it again allocates nothing.
type Plan struct {
	t       *Team
	task    Task
	key     key
	call    choice.Signature
	variant choice.Variant
	bid     memory.Bid
	claim   memory.Claim
	text    string // the call as messages show it
	sign    uint64 // its signature
	pinned  bool   // made by NewPlan: kept until Close

	prog   executor.Executable
	repeat repeat

	name    trace.Name // in the timeline; 0 without one
	counter *gaspi.CollectiveCounter
	bytes   uint64 // of the longest vector of a call
	average bool   // sums are divided

	agreed bool // that all members mean the same
	busy   *run // under way
	early  bool // Run ended before the run did
	run    run  // of single calls, or of the plan's own Start
}

// newPlan makes the plan of a task. It is the same on all members.
func (t *Team) newPlan(ctx context.Context, task *Task, k key) (*Plan, error) {
	p := t.early.plan // unless it is nil, of a call like this one, that ended early
	if p == nil {
		p = t.draft(task, k)
	}
	p.task = *task
	err := p.call.Check()
	if err != nil {
		return nil, err
	}
	if p.variant, err = t.chooser.Choose(&p.call); err != nil {
		return nil, err
	}
	p.call.Radix = p.variant.Radix
	t.logChoice(p)
	b, err := p.binding()
	if err != nil {
		return nil, err
	}
	if t.early.plan == nil {
		p.bid = t.arena.Bid(executor.Notifications(b.Schedule, b.Depth), executor.Room(b.Schedule, b.Element.Size, b.Depth))
		p.text = p.wording()
		p.sign = p.signature()
	}
	if err := t.reserve(ctx, p); err != nil {
		return nil, err
	}
	b.Slot = gaspi.NotificationID(p.claim.Slot())
	b.Scratch.Segment, b.Scratch.Offset = p.claim.Scratch()
	if p.prog, err = executor.Compile(&t.member, b); err != nil {
		p.claim.Release() // its place is free after the next flush
		return nil, fmt.Errorf("%v: %w", p.variant, err)
	}
	t.maker.Free(b.Schedule)
	p.counter, p.bytes = t.counterOf(p)
	p.average = p.task.isAverage()
	p.run.prepare(p)
	if t.member.Timeline != nil {
		p.name = t.member.Timeline.Named(task.String() + " by " + p.variant.String())
	}
	return p, nil
}

// infoPlans is how many plans of a team are logged at the level of information; later ones are at that
// of debugging.
const infoPlans = 16

// logChoice says at the first member which algorithm a new plan has.
func (t *Team) logChoice(p *Plan) {
	level := slog.LevelDebug
	if t.me == 0 && len(t.plans.byKey) < infoPlans {
		level = slog.LevelInfo
	}
	log := t.proc.Config().Log.With(logging.Part, logging.Collectives, "rank", t.proc.Rank())
	if ctx := context.Background(); log.Enabled(ctx, level) {
		log.Log(ctx, level, "gaspi: chose an algorithm", "call", p.task.String(), "members", len(t.ranks), "algorithm", p.variant.String())
	}
}

// binding is what the plan's executable is made of, but for the memory that is claimed for it.
func (p *Plan) binding() (*executor.Binding, error) {
	t, task := p.t, &p.task
	b := &executor.Binding{
		Schedule: t.maker.Build(&p.call.Call, t.me, p.variant.Emitter()), Element: task.elem.Coded(), Extra: p.call.Extra,
		In: t.base(p.key.in), Out: t.base(p.key.out),
		Compress: p.call.Options.Compress, Remember: p.key.plan != 0,
	}
	b.Depth = t.depth(b.Schedule, b.Element.Size)
	var err error
	if p.call.Op.Reduces() && task.user == nil {
		b.Folds, err = task.elem.Folds(task.op)
	}
	return b, err
}

// base is where memory at a place begins, nowhere if peers cannot reach it.
func (t *Team) base(at memory.Location) executor.Base {
	return executor.Base{Segment: t.heap.Segment(at), Offset: at.Offset}
}

// Parts of the notifications and of the scratch of a team that the eager memory of one plan takes at
// most, beyond two copies: enough plans fit beside it.
const (
	eagerSlotsPart = 16
	eagerBytesPart = 64
)

// depth returns the depth of the eager memory of a schedule, with elements of so many bytes. It is
// the same on all members.
func (t *Team) depth(s *schedule.Schedule, element int) schedule.Depth {
	slots := min(schedule.EagerSlots, int(t.cfg.Slots)/eagerSlotsPart)
	most := schedule.EagerBytes(t.chooser.OneNode)
	bytes := int(min(t.cfg.Scratch/eagerBytesPart, uint64(most)))
	return schedule.DepthOf(s.EagerSlots, s.Eager*element, slots, bytes)
}

// draft is a plan of which only the call is known.
func (t *Team) draft(task *Task, k key) *Plan {
	p := &Plan{t: t, task: *task, key: k, call: task.call}
	p.call.Size, p.call.Nodes = len(t.ranks), t.nodes
	p.call.Line = max(1, executor.CacheLine/max(1, task.elem.Size))
	p.call.Plain = k.plain()
	return p
}

// NewPlan prepares a task to be run again and again with the same buffers. It is
// called by all members; the first run finds out whether they agree. It takes
// memory and notifications of the team until Close.
func NewPlan(ctx context.Context, t *Team, task Task) (*Plan, error) {
	if !t.engine.Enter() {
		return nil, refused(task.String())
	}
	defer t.engine.Leave()
	if err := t.usable(&task); err != nil {
		return nil, t.failed(&task, err)
	}
	t.limit(&task)
	if err := task.check(t); err != nil {
		return nil, t.failed(&task, err)
	}
	k := task.key(t)
	k.plan = t.plans.made + 1 // alike on all members
	if err := t.hindered(k); err != nil {
		return nil, t.failed(&task, err)
	}
	p, err := t.newPlan(ctx, &task, k)
	if !nap.Ended(err) {
		t.plans.made = k.plan
	}
	if err != nil {
		return nil, t.failed(&task, err)
	}
	p.pinned = true
	t.plans.byKey[k] = p
	return p, nil
}

// Start begins a run; see Handle. One run of a plan is under way at a time:
// another one begins when it has ended. The buffers are the team's until the run
// has ended.
func (p *Plan) Start() (*Handle, error) {
	t := p.t
	if !t.engine.Enter() {
		return nil, refused(p.task.String())
	}
	defer t.engine.Leave()
	h, err := p.start()
	if err == nil {
		t.carryOn(&p.run)
	}
	return h, err
}

// start is Start in a call of the team.
func (p *Plan) start() (*Handle, error) {
	t := p.t
	if !p.claim.Held() {
		return nil, t.failed(&p.task, gaspi.ErrClosed)
	}
	if err := cmp.Or(t.usable(&p.task), t.hindered(p.key)); err != nil {
		return nil, t.failed(&p.task, err)
	}
	r := &p.run
	if r.state != ended || p.early {
		return nil, t.failed(&p.task, fmt.Errorf("%w: a run of the plan is under way; wait for it", gaspi.ErrInUse))
	}
	t.ops.begin(r, &p.task)
	return &r.handle, nil
}

// Run is Start and Wait. When ctx ends first, Run again goes on with the same run,
// or says how it ended if other calls of the team have gone on with it meanwhile.
func (p *Plan) Run(ctx context.Context) error {
	t := p.t
	if !t.engine.Enter() {
		return refused(p.task.String())
	}
	defer t.engine.Leave()
	if !p.claim.Held() {
		return t.failed(&p.task, gaspi.ErrClosed)
	}
	var err error
	switch {
	case p.early:
		err = p.run.handle.wait(ctx)
	case p.idle(ctx):
		p.run.bind(&p.task)
		err = p.run.quickly(ctx)
	default:
		h, serr := p.start()
		if serr != nil {
			return serr
		}
		err = h.wait(ctx)
	}
	p.early = p.run.state != ended
	if t.early.single == &p.run {
		t.early.single = nil // it is for Run to go on with
	}
	return err
}

// plain reports whether the buffers are where peers cannot reach them.
func (p *Plan) plain() bool { return p.call.Plain }

// Close gives the plan up. It is called by all members at the same point between
// their calls, and not while a run is under way.
func (p *Plan) Close() error {
	if !p.t.engine.Enter() {
		return refused("close of the plan of " + p.task.String())
	}
	defer p.t.engine.Leave()
	if !p.claim.Held() {
		return nil
	}
	if p.busy != nil {
		return p.t.failed(&p.task, fmt.Errorf("%w: a run of the plan is under way; wait for it", gaspi.ErrInUse))
	}
	p.t.plans.forget(p)
	return nil
}

// Algorithm is the name of what the plan runs, with its parameters, as in
// "ring x4".
func (p *Plan) Algorithm() string { return p.variant.String() }

// Ratio is the bytes that coded forms had in the last run by the bytes that they
// stood for, of all vectors that this member coded or decoded; 1 if there were none.
func (p *Plan) Ratio() float64 { return p.prog.Ratio() }

// renew makes a plan as if it had never run.
func (p *Plan) renew() {
	p.agreed, p.busy, p.early = false, nil, false
	p.prog.Renew()
}

// signature is a number that two calls share only if they match.
func (p *Plan) signature() uint64 {
	h := fnv.New64a()
	k := &p.key
	fmt.Fprintf(h, "%s|%v|%v|%d|%v|%v|%v", p.text, p.variant, k.call, k.plan, k.in, k.out, p.bid)
	return h.Sum64()
}

// wording is the text of a plan whose algorithm is chosen.
func (p *Plan) wording() string {
	where := ""
	if op := p.call.Op; p.call.InPlace && (op == schedule.ReduceScatter || op == schedule.AllGather || op == schedule.AllToAll) {
		where = " in place"
	}
	if p.key.in.Number != 0 || p.key.out.Number != 0 {
		a := p.key.out
		if a.Number == 0 {
			a = p.key.in
		}
		where += fmt.Sprintf(" in allocation %d at byte %d", a.Number, a.Offset)
	}
	if p.call.Options != (choice.Settings{}) {
		where += " by " + p.variant.String()
	}
	if p.key.plan != 0 {
		where += fmt.Sprintf(" as plan %d", p.key.plan)
	}
	return p.task.String() + where
}

// note is what this member says of its call of that number.
func (p *Plan) note(call uint64) agreement.Note {
	return agreement.Note{Call: call, Signature: p.sign, Member: p.t.me, Text: p.text}
}

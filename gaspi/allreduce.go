package gaspi

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Op is an element-wise operation of a reduction.
type Op = datatype.Op

// The operations. And, Or and Xor are for integers.
const (
	Sum  = datatype.Sum
	Prod = datatype.Prod
	Min  = datatype.Min
	Max  = datatype.Max
	And  = datatype.And
	Or   = datatype.Or
	Xor  = datatype.Xor
)

// Number is what the operations are defined on.
type Number = datatype.Number

// AllReduce combines the vectors send of all members of g element by element
// and stores the result in recv on all of them, the same bits everywhere. The
// vectors need not lie in a segment, have equal length, and at most
// Config.AllReduceElements elements of 8 bytes; package collectives has no such
// limit. recv may be send. send is taken over at the first call: when ctx ends
// first, the same call again goes on with what send held then.
//
// It is a reduction to the first member along a tree, in the order of the tree, and a broadcast
// back. On a host a member has up to 16 children, and the first member of each host, which
// stands for all of them, up to 4 on other hosts: each member sends at most 21 messages.
func AllReduce[T Number](ctx context.Context, g *Group, send, recv []T, op Op) error {
	if !reduce.Supports[T](op) {
		return g.error("allreduce", fmt.Errorf("%v is not defined for elements of type %T", op, *new(T)))
	}
	combine := func(acc, in []byte) {
		a := segment.Of[T](acc)
		reduce.Into(op, a, a, segment.Of[T](in))
	}
	return allReduce(ctx, g, send, recv, op.String(), uint8(op), combine)
}

// AllReduceFunc is AllReduce with an operation of the program: fn combines in
// into acc, which have equal length. It must be commutative and associative, the
// same on all members, and keep neither slice. It is called in the order of the
// tree, so that the result has the same bits everywhere.
func AllReduceFunc[T Element](ctx context.Context, g *Group, send, recv []T, fn func(acc, in []T)) error {
	combine := func(acc, in []byte) { fn(segment.Of[T](acc), segment.Of[T](in)) }
	return allReduce(ctx, g, send, recv, "a function", userOp, combine)
}

// userOp stands for the program's own function in a signature.
const userOp = 255

func allReduce[T Element](ctx context.Context, g *Group, send, recv []T, name string, op uint8, combine func(acc, in []byte)) error {
	if !g.usable() {
		if err := g.ready("allreduce"); err != nil {
			return err
		}
	}
	in, out := segment.BytesOf(send), segment.BytesOf(recv)
	switch {
	case len(in) != len(out):
		return g.error("allreduce", fmt.Errorf("%w: send has %d elements, recv %d", ErrMismatch, len(send), len(recv)))
	case len(in) > 8*g.p.cfg.AllReduceElements:
		return g.error("allreduce", fmt.Errorf("%w: the vector has %d bytes; Config.AllReduceElements is %d, of 8 bytes",
			ErrTooLarge, len(in), g.p.cfg.AllReduceElements))
	}
	g.p.stats.allReduces.Add(uint64(len(in)))
	sig := signature{op: op, kind: kindOf[T](), count: uint32(len(send))}
	begun := g.p.timeline.Begin()
	number, err := g.vector.run(ctx, in, out, sig, combine)
	if g.p.timeline != nil {
		g.recordMeeting(trace.AllReduce, begun, number)
	}
	return err
}

// vectorHeader is what precedes every vector that travels: what its sender
// called, and who disagreed, if anybody did.
//
//	| signature: 8 bytes | rank that disagrees + 1: 8 | its signature: 8 | that of the rank that found out: 8 |
const vectorHeader = 32

// A signature names a call, so that ranks that call different things get an
// error that names both and no garbage.
type signature struct {
	op    uint8
	kind  uint8 // reflect.Kind of the elements
	count uint32
}

func (s signature) word() uint64 {
	return uint64(s.op)<<40 | uint64(s.kind)<<32 | uint64(s.count)
}

func signatureOf(word uint64) signature {
	return signature{op: uint8(word >> 40), kind: uint8(word >> 32), count: uint32(word)}
}

// String is the call as messages show it.
func (s signature) String() string {
	op := "a function"
	if s.op != userOp {
		op = reduce.Op(s.op).String()
	}
	return fmt.Sprintf("%s of %d %v", op, s.count, reflect.Kind(s.kind))
}

func kindOf[T Element]() uint8 { return uint8(reflect.TypeFor[T]().Kind()) }

// vectorOp is the small reduction of a group and how far it has come. All state
// but busy belongs to the caller who holds busy.
type vectorOp struct {
	tree
	busy exclusive

	epoch  notify.Value
	active bool
	taken  bool   // the contribution is in the accumulator
	held   []byte // the contribution until then; memory that is kept
	stage  treeStage
	sig    signature
	waits  atomic.Int64 // nanoseconds of the wait under way
}

func newVectorOp(g *Group) *vectorOp {
	v := &vectorOp{}
	v.plant(g, v.written)
	return v
}

// run does one reduction, or goes on with the one that ended early. in is taken
// when it begins, out written when it is done. It returns the number of the reduction, 0 if another
// goroutine is in one.
func (v *vectorOp) run(ctx context.Context, in, out []byte, sig signature, combine func(acc, in []byte)) (notify.Value, error) {
	if !v.busy.enter() {
		return 0, v.g.error("allreduce", fmt.Errorf("%w: an AllReduce of the group is under way in another goroutine; use a group for each, made by Dup", ErrInUse))
	}
	defer v.busy.leave()
	if err := v.begin(in, sig); err != nil {
		return v.epoch, v.g.error("allreduce", err)
	}
	if err := v.take(ctx); err != nil {
		return v.epoch, v.g.error("allreduce", err)
	}
	for v.active {
		if err := v.step(ctx, combine); err != nil {
			return v.epoch, v.fail(err)
		}
	}
	result := v.result()
	if err := disagreement(result); err != nil {
		return v.epoch, v.g.error("allreduce", err)
	}
	copy(out, result[vectorHeader:])
	return v.epoch, nil
}

// begin takes the contribution, unless a reduction is under way. It does not block: in is the
// caller's again whatever comes.
func (v *vectorOp) begin(in []byte, sig signature) error {
	if v.active {
		if sig != v.sig {
			if err := v.g.over(); err != nil { // nobody can finish it
				return err
			}
			return fmt.Errorf("%w: an AllReduce with %v ended early and is to be finished first, not one with %v", ErrMismatch, v.sig, sig)
		}
		return nil
	}
	v.epoch, v.active, v.taken, v.stage, v.sig = nextEpoch(v.epoch), true, false, gathering, sig
	if v.g.p.internal.Idle() {
		v.accumulate(in)
	} else {
		v.held = append(v.held[:0], in...)
	}
	return nil
}

// take moves the contribution into the accumulator, unless it is there. Messages of the previous
// reduction may still be leaving that: take blocks until they have.
func (v *vectorOp) take(ctx context.Context) error {
	if v.taken {
		return nil
	}
	if err := v.g.p.settle(ctx); err != nil {
		return err
	}
	v.accumulate(v.held)
	return nil
}

// accumulate puts the contribution into the accumulator, which nothing leaves any more.
func (v *vectorOp) accumulate(in []byte) {
	acc := v.slot(slotAccumulator)
	clear(acc[:vectorHeader])
	binary.LittleEndian.PutUint64(acc, v.sig.word())
	copy(acc[vectorHeader:], in)
	v.taken = true
}

// step does one stage; an error leaves the stage to be done again.
func (v *vectorOp) step(ctx context.Context, combine func(acc, in []byte)) error {
	switch v.stage {
	case gathering:
		if err := v.gather(ctx, combine); err != nil {
			return err
		}
		v.stage = delivering
		if v.g.me == 0 {
			v.stage = spreading
		}
	case delivering:
		if err := v.send(ctx, slotAccumulator, v.parent(), v.g.near.Slot); err != nil {
			return err
		}
		v.stage = awaiting
	case awaiting:
		if err := v.await(ctx, topology.ParentSlot, 1, v.downStop); err != nil {
			return err
		}
		v.stage = spreading
	case spreading:
		from := topology.ParentSlot
		if v.g.me == 0 {
			from = slotAccumulator
		}
		for _, child := range v.children() {
			if err := v.send(ctx, from, child, topology.ParentSlot); err != nil {
				return err
			}
		}
		v.active = false
	}
	return nil
}

// gather waits for the vectors of all children, and combines them into the accumulator.
func (v *vectorOp) gather(ctx context.Context, combine func(acc, in []byte)) error {
	children := v.children()
	if len(children) == 0 {
		return nil
	}
	if err := v.await(ctx, 0, uint32(len(children)), v.upStop); err != nil {
		return err
	}
	for slot, child := range children {
		v.absorb(v.slot(slot), child, combine)
	}
	return nil
}

// slotAccumulator is behind the slots of the tree. The slot of a notification has
// the same number.
const slotAccumulator = topology.ParentSlot + 1

// slot is this rank's slot i.
func (v *vectorOp) slot(i int) []byte {
	p := v.g.p
	at := p.lay.GroupAt(v.g.index) + uint64(i)*p.lay.VectorSlot
	b, err := p.system.Bytes(at, p.lay.VectorSlot)
	if err != nil {
		panic(err) // the layout places every slot in the segment
	}
	return b
}

func (v *vectorOp) result() []byte {
	if v.g.me == 0 {
		return v.slot(slotAccumulator)
	}
	return v.slot(topology.ParentSlot)
}

// absorb combines the vector of a member into the accumulator. Two that were
// called differently are not combined; the difference travels with the result.
func (v *vectorOp) absorb(from []byte, member int, combine func(acc, in []byte)) {
	acc := v.slot(slotAccumulator)
	le := binary.LittleEndian
	mine, theirs := v.sig.word(), le.Uint64(from)
	switch n := v.bytes(); {
	case le.Uint64(acc[8:]) != 0:
	case le.Uint64(from[8:]) != 0:
		copy(acc[8:vectorHeader], from[8:vectorHeader])
	case mine != theirs:
		le.PutUint64(acc[8:], uint64(v.g.ranks[member])+1)
		le.PutUint64(acc[16:], theirs)
		le.PutUint64(acc[24:], mine)
	default:
		combine(acc[vectorHeader:vectorHeader+n], from[vectorHeader:vectorHeader+n])
	}
}

// disagreement is the error that a result carries, or nil.
func disagreement(result []byte) error {
	le := binary.LittleEndian
	who := le.Uint64(result[8:])
	if who == 0 {
		return nil
	}
	return fmt.Errorf("%w: rank %d called AllReduce with %v, its parent in the tree with %v",
		ErrMismatch, who-1, signatureOf(le.Uint64(result[16:])), signatureOf(le.Uint64(result[24:])))
}

// bytes is the length of the vector under way.
func (v *vectorOp) bytes() int { return int(v.sig.count) * kindBytes(v.sig.kind) }

// send writes this rank's slot from to slot to of a member, with its number.
func (v *vectorOp) send(ctx context.Context, from, member, to int) error {
	p := v.g.p
	link, err := p.link(v.g.ranks[member])
	if err != nil {
		return v.g.fault(ctx, v.g.ranks[member], err)
	}
	src, err := p.system.Span(p.lay.GroupAt(v.g.index)+uint64(from)*p.lay.VectorSlot, uint64(vectorHeader+v.bytes()))
	if err != nil {
		return err
	}
	index := v.g.indexOf[member]
	dst := transport.Addr{Segment: p.lay.ID, Offset: p.lay.GroupAt(index) + uint64(to)*p.lay.VectorSlot}
	flag := transport.Flag{Segment: p.lay.ID, ID: p.lay.GroupSlot(index) + p.lay.Group.Vector + notify.ID(to), Value: v.epoch}
	return v.g.fault(ctx, v.g.ranks[member], link.PutNotify(p.internal, dst, src, flag))
}

// await waits until count slots from first have been written.
func (v *vectorOp) await(ctx context.Context, first, count uint32, stop func() error) error {
	p := v.g.p
	id := p.lay.GroupSlot(v.g.index) + p.lay.Group.Vector + notify.ID(first)
	_, err := p.system.Notifications().Wait(ctx, notify.EveryUntil(id, count, notify.Reached, v.epoch), stop, &v.waits)
	if v.waits.Load() > 0 {
		v.account()
	}
	return err
}

// account accounts for the time of a wait: also to a peer, if it alone was waited for.
func (v *vectorOp) account() {
	d := v.waits.Swap(0)
	v.g.p.stats.allReduceWait.Add(d)
	var from int
	switch {
	case v.stage == awaiting:
		from = v.parent()
	case len(v.children()) == 1:
		from = v.children()[0]
	default:
		return
	}
	v.g.p.stats.peers.at(v.g.ranks[from]).groupWait.Add(d)
}

func (v *vectorOp) written(slot int) bool {
	p := v.g.p
	id := p.lay.GroupSlot(v.g.index) + p.lay.Group.Vector + notify.ID(slot)
	_, there, _ := p.system.Notifications().Try(notify.Until(id, notify.Reached, v.epoch))
	return there
}

func (v *vectorOp) fail(err error) error {
	if isBare(err) {
		return err
	}
	e := &OpError{Op: "allreduce", At: v.g.String(), Err: err}
	if !isTimeLimit(err) {
		return e
	}
	if v.stage == awaiting {
		e.Wait = fmt.Sprintf("the result from rank %d", v.g.ranks[v.parent()])
		return e
	}
	e.Wait = rankList(v.missing())
	return e
}

// kindBytes is the size of an element of a kind, 0 for one that is no Element.
func kindBytes(kind uint8) int {
	switch reflect.Kind(kind) {
	case reflect.Int8, reflect.Uint8:
		return 1
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	case reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Complex64, reflect.Int, reflect.Uint:
		return 8
	case reflect.Complex128:
		return 16
	}
	return 0
}

// Package core is the protocol of the object store: who holds which object, who
// sends it to whom, how a reduction is laid over the ranks, and what happens
// when a rank dies.
//
// A Core is one rank's part: a shard of the directory (and the replica of
// another), the store's book-keeping, and the calls of the local program. It is
// pure. Calls and events go in; messages, commands and results come out. It has
// no clock, no goroutine, no I/O and never looks at an object's bytes. docs/HOPLITE.md states
// the promises of the calls.
//
// The runner on one-sided calls and the simulator in hoplite/internal/sim drive
// the same code. They promise:
//
//   - Messages from one rank to another arrive once and in order; when the sender dies, a first
//     part of them does.
//   - The watermark of a put is posted after all earlier puts of that transfer. Sent is reported
//     when it has landed, or so that no later message to that peer overtakes it.
//   - Down(r) is true, and after it nothing that r wrote or sent arrives. Ranks may learn it at
//     different times.
//   - Commands are done in order, and messages go out in order, each after as many commands as it says.
package core

import (
	"maps"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/arena"
)

// A Core is one rank's part of the protocol. It is not safe for concurrent use.
type Core struct {
	cfg    Config
	shares bool   // this rank can read the store of another
	dead   []bool // index is the rank
	out    Output

	// The directory.
	shards  []*shard // index is the number; nil until somebody asks
	inlined int64    // bytes that entries hold inline

	// The store.
	objects   map[string]*object
	streams   map[Stream]*reductionNode
	arena     arena.Arena
	slots     []*object // what each slot receives
	needs     []*need   // objects and jobs that wait for room, first come first
	transfers map[uint64]*outgoing
	folds     map[uint64]*reductionNode // by the number of what is to be reported
	copies    map[uint64]*object        // likewise
	tasks     map[uint64]task           // likewise
	todo      []uint64                  // tasks that have not begun, in their order
	doing     uint64                    // the task that has begun, 0 if none has
	lent      map[uint64]*lease
	early     []earlyPull        // requests for streams of which the caller has not told this rank
	refs      map[uint64]*object // held by the program
	loans     map[uint64]loan    // likewise, in stores of other ranks
	follows   map[uint64]*object // held by those who copy behind the watermark
	passing   map[*object]bool   // no longer found, but still in use
	clock     uint64             // of uses, for eviction
	extents   []arena.Extent     // of checkStore, to be used again

	// Calls of the program.
	calls   map[CallID]*call
	fills   map[CallID]*object
	watched map[uint64]*watching
	reduces map[uint64]*reduction
	last    uint64 // numbers of transfers, references, tokens, watches, reductions
}

// New makes the core of one rank. All ranks start out live.
func New(cfg Config) *Core {
	cfg = cfg.withDefaults()
	c := &Core{
		cfg: cfg, shares: cfg.shares(), dead: make([]bool, cfg.Size), shards: make([]*shard, cfg.Size),
		objects: map[string]*object{}, streams: map[Stream]*reductionNode{}, arena: arena.New(cfg.Capacity, cfg.Align),
		slots: make([]*object, cfg.Slots), transfers: map[uint64]*outgoing{},
		folds: map[uint64]*reductionNode{}, copies: map[uint64]*object{}, refs: map[uint64]*object{}, loans: map[uint64]loan{}, follows: map[uint64]*object{},
		tasks: map[uint64]task{}, lent: map[uint64]*lease{},
		passing: map[*object]bool{}, calls: map[CallID]*call{}, fills: map[CallID]*object{},
		watched: map[uint64]*watching{}, reduces: map[uint64]*reduction{},
	}
	c.shardAt(int(cfg.Rank)).owner = true
	return c
}

func (c *Core) next() uint64 {
	c.last++
	return c.last
}

// token is a name for a put that no other rank gives.
func (c *Core) token() uint64 { return c.next()<<20 | uint64(c.cfg.Rank)&(1<<20-1) }

// Receive handles a message. It takes m.Data. Messages of a dead rank are dropped.
func (c *Core) Receive(from Rank, m Message) {
	if c.dead[from] {
		return
	}
	if m.Kind() <= KindRepAck {
		c.onRequest(from, &m)
	} else {
		c.onOther(from, &m)
	}
	c.makeRoom()
}

// onOther handles a message that is not for the directory.
func (c *Core) onOther(from Rank, m *Message) {
	switch m.Kind() {
	case KindPutAck:
		c.onPutAck(m.putAck())
	case KindAssign:
		c.onAssign(m.assign())
	case KindData:
		c.onData(m.data())
	case KindFail:
		c.onFail(m.fail())
	case KindEvictAck:
		c.onEvictAck(m.evictAck())
	case KindDelAck:
		c.onDelAck(m.delAck())
	case KindDrop:
		c.onDrop(m.drop())
	case KindLocated:
		c.onLocated(m.located())
	case KindRep:
		c.onRep(from, m.rep())
	case KindPull:
		c.onPull(from, m.Pull())
	case KindCancel:
		c.onCancel(from, m.cancel())
	case KindStopped:
		c.onStopped(from, m.Stopped())
	case KindShare:
		c.onShare(from, m.share())
	case KindShared:
		c.onShared(m.shared())
	case KindLent:
		c.onLent(from, m.lent())
	case KindJobReq:
		c.onJobReq(m.jobReq())
	case KindInput:
		c.onInput(m.input())
	case KindJobFailed:
		c.onJobFailed(m.jobFailed())
	case KindJobEnd:
		c.onJobEnd(m.jobEnd())
	}
}

// awaits reports whether o waits for the answer to question ref.
func (o *object) awaits(ref uint64) bool {
	return o != nil && o.state == wanted && o.dir.asked && o.dir.ask == ref
}

func (c *Core) onData(m Data) {
	if o := c.objects[m.ID]; o.awaits(m.Ref) {
		c.forget(o)
		for _, g := range o.use.gets {
			c.result(CallResult{Call: g, ID: o.id, Size: m.Size, Data: m.Data})
		}
	}
}

func (c *Core) onFail(m Fail) {
	if o := c.objects[m.ID]; o.awaits(m.Ref) {
		c.drop(o, m.Code)
	}
}

func (c *Core) onDrop(m Drop) {
	if o := c.objects[m.ID]; o != nil && o.gen == m.Gen {
		if m.Code == Lost && o.complete() {
			panic("hoplite: a directory calls an object lost of which a complete copy is here: " + o.id)
		}
		c.drop(o, m.Code)
	}
	if m.Code == Deleted {
		c.ask(m.ID, DropAck{ID: m.ID, Gen: m.Gen}.message())
	}
}

func (c *Core) onDelAck(m DelAck) { c.result(CallResult{Call: CallID(m.Ref)}) }

// Down handles the death of a rank. Nothing that it sent or wrote arrives from now on.
func (c *Core) Down(d Rank) {
	if c.dead[d] {
		return
	}
	owners, replicas := make([]Rank, c.cfg.Size), make([]Rank, c.cfg.Size)
	for s := range c.cfg.Size {
		owners[s], replicas[s] = c.ownerOf(s), c.replicaOf(s)
	}
	c.dead[d] = true
	c.transfersAfter(d, owners)
	c.shardsAfter(d, owners, replicas)
	c.loansAfter(d)
	c.sharesAfter(d)
	c.jobsAfter(d)
	c.makeRoom()
}

// shardMoved tells the new owner of a shard all that this rank holds of it, and asks it
// again what the old owner has not answered.
func (c *Core) shardMoved(num int) {
	to := c.ownerOf(num)
	of := func(id string) bool { return ShardOf(id, c.cfg.Size) == num }
	for _, id := range slices.Sorted(maps.Keys(c.objects)) {
		if of(id) {
			c.enlist(to, c.objects[id])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.calls)) {
		if x := c.calls[k]; x.deletes && of(x.name) {
			c.send(to, DelReq{ID: x.name, Ref: uint64(k)}.message())
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(c.watched)) {
		if w := c.watched[ref]; of(w.id) {
			c.send(to, w.question(ref))
		}
	}
	for _, n := range slices.Sorted(maps.Keys(c.reduces)) {
		r := c.reduces[n]
		for _, token := range r.withdrawn {
			if of(r.target) {
				c.send(to, Withdraw{ID: r.target, Token: token}.message())
			}
		}
	}
	c.send(to, Marker{Shard: uint64(num)}.message())
}

// enlist registers an object with a new owner of its shard.
func (c *Core) enlist(to Rank, o *object) {
	c.serveEarly(o)
	if o.state == wanted {
		if o.dir.asked {
			c.send(to, o.question())
		}
		return
	}
	if o.gen == 0 {
		if o.dir.asked {
			c.sendPut(o)
		}
		return
	}
	m := Register{
		ID: o.id, Gen: o.gen, Token: o.token, Sum: o.sum, Size: o.size, Rank: NoRank, Own: o.born,
		Complete: o.complete(), Origin: o.state == filling || o.state == making || o.use.mine, Making: o.state == making, Pinned: o.use.pinned,
	}
	if o.state == fetching {
		m.Rank, m.Copy = o.recv.from, o.recv.fromCopy
		m.Ref = o.dir.ask
		m.Orphan = o.recv.from == NoRank
	}
	c.send(to, m.message())
	if o.state == evicting {
		c.send(to, Evict{ID: o.id, Gen: o.gen}.message())
	}
}

package core

import (
	"maps"
	"slices"
)

// A Core is one rank's part of the protocol. It is not safe for concurrent use.
type Core struct {
	cfg  Config
	dead []bool // index is the rank
	out  Output

	// The directory.
	shards  []*shard // index is the number; nil until somebody asks
	inlined int64    // bytes that entries hold inline

	// The store.
	objects   map[string]*object
	streams   map[Stream]*reductionNode
	arena     rangeAllocator
	slots     []*object // what each slot receives
	needs     []*need   // objects and jobs that wait for room, first come first
	transfers map[uint64]*outgoing
	early     []queued           // requests for streams of which the caller has not told this rank
	refs      map[uint64]*object // held by the program
	follows   map[uint64]*object // held by those who copy behind the watermark
	passing   map[*object]bool   // no longer found, but still in use
	clock     uint64             // of uses, for eviction
	spans     []span             // of checkStore, to be used again

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
		cfg: cfg, dead: make([]bool, cfg.Size), shards: make([]*shard, cfg.Size),
		objects: map[string]*object{}, streams: map[Stream]*reductionNode{}, arena: newArena(cfg.Capacity, cfg.Align),
		slots: make([]*object, cfg.Slots), transfers: map[uint64]*outgoing{}, refs: map[uint64]*object{}, follows: map[uint64]*object{},
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
	switch k := m.Kind; {
	case k <= RepAck:
		c.direct(from, m)
	case k == Rep:
		c.recorded(from, m)
	case k == Located:
		c.located(m)
	case k == Pull:
		c.pulled(from, m)
	case k == Cancel:
		c.canceled(from, m)
	case k == Stopped:
		c.stopped(from, m)
	case k == DelAck:
		if c.calls[CallID(m.Ref)] != nil {
			c.result(CallResult{Call: CallID(m.Ref)})
		}
	case k >= Job:
		c.jobMessage(from, m)
	default:
		c.answered(m)
	}
	c.makeRoom()
}

// answered handles what the directory says about an object here.
func (c *Core) answered(m Message) {
	o := c.objects[m.ID]
	switch m.Kind {
	case PutAck:
		c.acknowledged(o, m)
	case Assign:
		c.assigned(o, m)
	case Data:
		if o != nil && o.state == wanted && o.asked && o.ask == m.Ref {
			c.forget(o)
			for _, g := range o.gets {
				c.result(CallResult{Call: g, ID: o.id, Size: m.Size, Data: m.Data})
			}
		}
	case Fail:
		if o != nil && o.state == wanted && o.asked && o.ask == m.Ref {
			c.drop(o, m.Code)
		}
	case EvictAck:
		c.evicted(o, m)
	case Drop:
		if o != nil && o.gen == m.Gen {
			if m.Code == Lost && o.complete() {
				panic("hoplite: a directory calls an object lost of which a complete copy is here: " + o.id)
			}
			c.drop(o, m.Code)
		}
		if m.Code == Deleted {
			c.ask(Message{Kind: DropAck, ID: m.ID, Gen: m.Gen})
		}
	}
}

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
			c.send(to, Message{Kind: DelReq, ID: x.name, Ref: uint64(k)})
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(c.watched)) {
		if w := c.watched[ref]; of(w.id) {
			c.send(to, Message{Kind: Watch, ID: w.id, Ref: ref, Flags: w.flags, Size: w.room})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(c.reduces)) {
		r := c.reduces[n]
		for _, token := range r.withdrawn {
			if of(r.target) {
				c.send(to, Message{Kind: Withdraw, ID: r.target, Token: token})
			}
		}
	}
	c.send(to, Message{Kind: Marker, Ref: uint64(num)})
}

// enlist registers an object with a new owner of its shard.
func (c *Core) enlist(to Rank, o *object) {
	c.serveEarly(o)
	if o.state == wanted {
		if o.asked {
			c.send(to, o.question())
		}
		return
	}
	if o.gen == 0 {
		if o.asked {
			c.sendPut(o)
		}
		return
	}
	m := Message{Kind: Register, ID: o.id, Gen: o.gen, Token: o.token, Sum: o.sum, Size: o.size, Rank: NoRank}
	set := func(f uint8, on bool) {
		if on {
			m.Flags |= f
		}
	}
	set(FlagComplete, o.complete())
	set(FlagOrigin, o.state == filling || o.state == making || o.mine)
	set(FlagPinned, o.pinned)
	set(FlagOnce, o.state == making)
	m.Own = o.born
	if o.state == fetching {
		m.Rank, m.Copy = o.from, o.fromCopy
		m.Ref = o.ask
		set(FlagStale, o.from == NoRank)
	}
	c.send(to, m)
	if o.state == evicting {
		c.send(to, Message{Kind: Evict, ID: o.id, Gen: o.gen})
	}
}

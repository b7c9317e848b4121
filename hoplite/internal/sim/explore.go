package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// ExplorationOptions determine an exploration. The zero value is the usual mixture.
type ExplorationOptions struct {
	// Seed makes the exploration, all of it.
	Seed uint64
	// Configure changes the drawn configuration of the cores, to look for a mutant.
	Configure func(*core.Config)
	// Trace is told of every step. It costs time.
	Trace func(string)
	// History collects the calls, for a checker of linearizability.
	History bool
	// Clings lets programs that follow an object keep it until their Get ends, also when it
	// is known to mean nothing: a defect to look for.
	Clings bool
}

// An Exploration is what an exploration saw.
type Exploration struct {
	Steps, Calls, Deaths, Lost, Full int
	// FirstDeath is its step, if there was one.
	FirstDeath int
	History    []Operation
}

// reach of random delays, in nanoseconds of simulated time.
const (
	shortDelay = 20
	longDelay  = 400
)

// An explorer is a user that does everything at random.
type explorer struct {
	rng     *rand.Rand
	oracle  *oracle
	clients []client
	ids     []string
	sizes   map[string]int64
	calls   map[core.CallID]*pending
	next    core.CallID
	last    []int64 // arrival of the last message, by from*ranks+to
	report  Exploration
	ended   bool // no new calls
	history bool
	holds   map[hold][]byte
	follows []*follower // in the order of their beginning
	clings  bool
	mixture mixture
	late    bool // watermarks are seen late
}

// A client is a program of a rank that makes one call at a time.
type client struct {
	rank  core.Rank
	left  int
	began bool
	busy  core.CallID
}

// A hold is a reference that a program has.
type hold struct {
	rank core.Rank
	ref  uint64
	id   string
	at   core.Rank // in whose store
	off  int64
	size int64
}

// pending is a call that has not ended.
type pending struct {
	op      Operation
	client  int
	at      int    // the origin that a Reduce has noted
	data    []byte // of a Put
	filled  int64
	room    int64 // offset of a Put in the store
	filling bool  // its bytes are asked for
	follow  *follower
}

// Explore makes an exploration and says what was wrong, if anything.
func Explore(o ExplorationOptions) (Exploration, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0x5eed))
	x := &explorer{
		rng: rng, oracle: newOracle(), sizes: map[string]int64{}, calls: map[core.CallID]*pending{},
		history: o.History, holds: map[hold][]byte{}, clings: o.Clings,
	}
	cfg := core.Config{
		Size: 2 + rng.IntN(5), Capacity: int64(48 + 32*rng.IntN(8)), Align: 4, Chunk: int64(2 + rng.IntN(8)),
		Window: 1 + rng.IntN(3), Slots: 1 + rng.IntN(8), Inline: int64(rng.IntN(3) * 6), InlineQuota: int64(rng.IntN(3) * 12),
		Shape: shape.Shape(rng.IntN(4)), Links: shape.Links{Bandwidth: 1e9, Latency: 1e-8 * float64(rng.IntN(3))},
	}
	if rng.IntN(2) == 0 {
		cfg.Capacity += 400 // room enough: other things go wrong then
		cfg.Slots += 8
	}
	x.mixture = draw(x, &cfg)
	if o.Configure != nil {
		o.Configure(&cfg)
	}
	x.late = rng.IntN(2) == 0
	x.last = make([]int64, cfg.Size*cfg.Size)
	w := newWorld(cfg, drawHosts(o.Seed, &cfg), x, x)
	w.trace = o.Trace
	x.prepare(w)
	err := x.run(w)
	x.report.Steps = w.steps
	if err != nil {
		err = fmt.Errorf("seed %d: %w", o.Seed, err)
	}
	return x.report, err
}

// later lets a client make its next call.
func (x *explorer) later(w *world, i int) {
	w.at(w.now+x.delay(), act, x.clients[i].rank).client = i
}

func (x *explorer) delay() int64 {
	if x.rng.IntN(4) == 0 {
		return 1 + x.rng.Int64N(longDelay)
	}
	return 1 + x.rng.Int64N(shortDelay)
}

// message keeps the order between two ranks and nothing else.
func (x *explorer) message(w *world, from, to core.Rank, _ *core.Message) int64 {
	last := &x.last[int(from)*w.cfg.Size+int(to)]
	if from == to {
		*last = max(*last, w.now)
	} else {
		*last = max(*last+1, w.now+x.delay())
	}
	return *last
}

// put keeps the order of the puts of a transfer. Its sender knows later.
func (x *explorer) put(w *world, from core.Rank, cmd *core.Command) (int64, int64) {
	landed := w.now + x.delay()
	for _, e := range w.queue {
		if e.kind == land && e.from == from && e.cmd.Transfer == cmd.Transfer {
			landed = max(landed, e.at+1)
		}
	}
	return landed, landed + x.delay()
}

// read: a rank may do much else between two reads.
func (x *explorer) read(w *world) int64 { return w.now + x.delay() }

// look: some ranks poll often, others do much else first.
func (x *explorer) look(w *world) int64 {
	if !x.late || x.rng.IntN(2) == 0 {
		return w.now
	}
	return w.now + x.delay()
}

// run lets everything happen, then looks at what is left.
func (x *explorer) run(w *world) error {
	every := 1 + x.rng.IntN(40)
	if x.rng.IntN(8) == 0 {
		every = 1
	}
	const most = 200000
	settle := func() {
		for w.steps < most && w.step() {
			if w.steps%every == 0 {
				w.check(false)
			}
		}
		if w.err == nil && w.steps >= most {
			w.failf("there is no end: ranks go on talking to each other")
		}
		w.check(true)
	}
	settle()
	x.stuck(w)
	x.verify(w)
	if x.history {
		for _, c := range sortedKeys(x.calls) {
			if p := x.calls[c]; p.op.End == 0 {
				x.report.History = append(x.report.History, p.op)
			}
		}
	}
	x.ended = true
	x.cancelAll(w)
	settle()
	x.deleteAll(w)
	settle()
	x.empty(w)
	return w.err
}

// check looks at the invariants that hold at any moment, or at rest.
func (w *world) check(rest bool) {
	if w.err == nil {
		if err := core.Check(w.cores, w.dead, rest); err != nil {
			w.failf("%w", err)
		}
	}
}

// cancelAll ends what waits with good reason, and releases all references.
func (x *explorer) cancelAll(w *world) {
	for _, c := range sortedKeys(x.calls) {
		if p := x.calls[c]; !w.dead[p.op.Rank] && w.err == nil {
			w.cores[p.op.Rank].Cancel(c)
			w.drain(p.op.Rank)
		}
	}
	for h := range x.holds {
		delete(x.holds, h)
		if !w.dead[h.rank] {
			w.cores[h.rank].Release(h.ref)
		}
	}
	for r := range w.cores {
		if !w.dead[r] {
			w.drain(core.Rank(r))
		}
	}
}

func (x *explorer) deleteAll(w *world) {
	r := slices.Index(w.dead, false)
	if r < 0 || w.err != nil {
		return
	}
	for _, id := range x.ids {
		x.next++
		w.cores[r].Delete(x.next, id)
	}
	w.drain(core.Rank(r))
}

// empty says if something was left behind after everything was deleted.
func (x *explorer) empty(w *world) {
	for r, c := range w.cores {
		if w.err == nil && !w.dead[r] {
			if left := c.Left(); left != "" {
				w.failf("everything was deleted, and rank %d still has %s", r, left)
			}
		}
	}
}

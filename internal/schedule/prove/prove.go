package prove

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Options say what is demanded of schedules beside the result. The zero value
// demands least of the order and allows least memory.
type Options struct {
	// Ordered says that contributions must be folded in the order of ranks; by
	// default any order will do.
	Ordered bool
	// Runs is how many runs follow each other without a barrier. 0 means 2, or 4
	// if the schedules use Flip, whose copies repeat every second run, or enough to
	// use each copy of Eager twice and the first once more. With less than that, what a run
	// does to the next is not seen; more finds no more.
	Runs int
	// Depth says how far runs are ahead of each other by Eager; zero means two copies, and credits in every run.
	Depth schedule.Depth
	// Locals is the number of local vectors that Fan serves, of an AllReduce or Scan in
	// place, or Stage or StageIn, of a ReduceScatter; 0 or 1 for one.
	Locals int
	// Shares allows a Combine to touch memory of peers.
	Shares bool
	// Hosts is the host of each rank: with Shares, only of peers of the same host.
	// Nil means that all share memory.
	Hosts []int
	// Exposes allows peers to touch the caller's vectors.
	Exposes bool
}

// Check proves the schedules that build makes for the ranks of a call. It returns
// nil if they are right, otherwise an *Error that says where they are not. It
// keeps none of the schedules.
func Check(c *schedule.Call, build func(rank int) *schedule.Schedule, opts Options) error {
	return new(Prover).Check(c, build, opts)
}

// A Prover proves schedules of one call after the other, each in the memory that those before it took. It is for one
// goroutine at a time; the zero Prover is ready.
type Prover struct{ last check }

// Check is Check.
func (p *Prover) Check(c *schedule.Call, build func(rank int) *schedule.Schedule, opts Options) error {
	if err := c.Check(); err != nil {
		return err
	}
	opts.Locals = max(opts.Locals, 1)
	k := &p.last
	k.call, k.opts, k.layout, k.plans = c, opts, c.Layout(), k.plans[:0]
	defer func() { clear(k.plans) }()
	if err := k.accepts(); err != nil {
		return err
	}
	for r := range c.Size {
		k.plans = append(k.plans, build(r))
	}
	if err := k.form(); err != nil {
		return err
	}
	k.opts.settle(k.plans[0])
	k.open()
	for run := range k.opts.Runs {
		if err := k.walk(run); err != nil {
			return err
		}
	}
	k.run = k.opts.Runs
	for r := range c.Size {
		if err := k.turn(r); err != nil {
			return err
		}
	}
	return nil
}

// settle fills in defaults.
func (o *Options) settle(s *schedule.Schedule) {
	if o.Depth == (schedule.Depth{}) {
		o.Depth = schedule.Depth{Copies: 2, Batch: 1}
	}
	if o.Runs > 0 {
		return
	}
	o.Runs = 2
	if s.Flip > 0 {
		o.Runs = 4
	}
	if s.Eager+s.EagerSlots > 0 {
		o.Runs = max(o.Runs, 2*o.Depth.Copies+1)
	}
}

// check is the state of one proof. Fields for use by a function have no meaning outside of it.
type check struct {
	call   *schedule.Call
	opts   Options
	layout schedule.Layout // where In and Out lie if the call is in place
	plans  []*schedule.Schedule

	terms    terms
	memories []memory // of all ranks; see memoryOf
	lanes    []lane   // of all ranks; see lanesOf
	first    []int32  // rank -> its first lane
	slots    []*slot  // of all ranks, see slotOf; nil if never used
	events   []access
	sent     []sent
	clocks   clockPool

	slotPool  pool[slot]  // of slots
	fencePool pool[fence] // of lanes

	run    int
	ready  []int32 // lanes that may go on
	begun  []int32 // rank -> when its run began, by its first lane's clock
	wanted map[promiseKey]foldedValue

	buffers  []schedule.Buffer // of the caller
	caller   memory            // for use by written
	writing  []piece           // for use by written
	promised memory            // for use by want
	pieces   [][]piece         // of each source of a step, for use by fold
	folded   []piece           // for use by fold
	at, used []int             // for use by foldPieces
}

// walk does one run: all lanes until none can go on, then what callers do.
func (k *check) walk(run int) error {
	k.run = run
	for r := range k.call.Size {
		if err := k.begin(r); err != nil {
			return err
		}
	}
	for len(k.ready) > 0 {
		last := len(k.ready) - 1
		at := k.ready[last]
		k.ready = k.ready[:last]
		if err := k.advance(&k.lanes[at]); err != nil {
			return err
		}
	}
	if err := k.stuck(); err != nil {
		return err
	}
	if err := k.unawaited(); err != nil {
		return err
	}
	for r := range k.call.Size {
		if err := k.end(r); err != nil {
			return err
		}
	}
	return nil
}
